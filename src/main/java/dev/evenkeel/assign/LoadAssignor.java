package dev.evenkeel.assign;

import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Spreads the measured work evenly, where the shards of a group are not alike.
 *
 * <p>The load of a shard is the mean of two shares, that of its handlers' time and that of its
 * bytes, among all shards of the group. A shard that was not measured yet counts as an average one.
 * A small part of each load is the same for all shards, so that idle shards are spread, too.
 *
 * <ul>
 *   <li>Shards without an owner go to the least loaded subscriber, the heaviest first (longest
 *       processing time first: Graham, "Bounds on multiprocessing timing anomalies", 1969).
 *   <li>A shard leaves its owner only if the owner's load exceeds that of another subscriber by
 *       more than {@value #GAP_PERCENT} % of the average load of a member, and only if the move
 *       brings these two closer by {@value #GAIN_PERCENT} % of it at least. So loads that go up and
 *       down a little move nothing.
 *   <li>A hand-over under way counts as done, so planning again in its midst changes nothing.
 * </ul>
 *
 * <p>Of members with the same subscription, none has more than the average and twice the heaviest
 * shard, or the gap above. Time grows as {@code (shards + moves) log members} for each different
 * set of subscribers.
 */
public final class LoadAssignor implements Assignor {

  public static final String NAME = "load";

  static final int GAP_PERCENT = 25;
  static final int GAIN_PERCENT = 5;

  /** The part of an average load that every shard has. */
  private static final double SAME_PART = 0.05;

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Map<Shard, String> assign(Snapshot snapshot) {
    Roster roster = Roster.of(snapshot);
    Plan plan = new Plan(roster, loads(roster));
    plan.place();
    plan.level();
    Map<Shard, String> targets = new HashMap<>(2 * roster.shards.length);
    for (int s = 0; s < roster.shards.length; s++) {
      targets.put(roster.shards[s], roster.members[plan.target[s]]);
    }
    return targets;
  }

  /** Loads whose average is 1. */
  static double[] loads(Roster roster) {
    double[] loads = new double[roster.shards.length];
    double busy = 0;
    double bytes = 0;
    int measured = 0;
    for (Snapshot.Work work : roster.work) {
      if (work != null) {
        measured++;
        busy += work.busy();
        bytes += work.bytesPerSecond();
      }
    }
    int parts = (busy > 0 ? 1 : 0) + (bytes > 0 ? 1 : 0);
    for (int s = 0; s < loads.length; s++) {
      Snapshot.Work work = roster.work[s];
      double load = 1;
      if (work != null && parts > 0) {
        double sum =
            (busy > 0 ? work.busy() / busy : 0) + (bytes > 0 ? work.bytesPerSecond() / bytes : 0);
        load = sum / parts * measured;
      }
      loads[s] = SAME_PART + (1 - SAME_PART) * load;
    }
    return loads;
  }

  /** Members that may own the same shards, by load. */
  private static final class Peers {
    final TreeSet<Integer> byLoad;

    Peers(BitSet members, Comparator<Integer> order) {
      byLoad = new TreeSet<>(order);
      members.stream().forEach(byLoad::add);
    }
  }

  private static final class Plan {
    final Roster roster;
    final double[] load;
    final int[] target;
    final double[] memberLoad;
    final double average;

    /** By topic; topics with the same subscribers share one. */
    final Peers[] peersOf;

    final List<Peers> peers = new ArrayList<>();

    /** Those that each member is in. */
    final List<List<Peers>> ofMember = new ArrayList<>();

    /** Of each member and peers, what it is to own there, by load and number. */
    final Map<Peers, Map<Integer, TreeMap<Double, TreeSet<Integer>>>> owned = new HashMap<>();

    Plan(Roster roster, double[] load) {
      this.roster = roster;
      this.load = load;
      int members = roster.members.length;
      target = new int[load.length];
      memberLoad = new double[members];
      double sum = 0;
      for (double each : load) {
        sum += each;
      }
      average = members == 0 ? 0 : sum / members;
      Map<BitSet, Peers> bySet = new HashMap<>();
      peersOf = new Peers[roster.topics()];
      for (int m = 0; m < members; m++) {
        ofMember.add(new ArrayList<>());
      }
      List<BitSet> subscribers = roster.subscribers();
      for (int topic = 0; topic < peersOf.length; topic++) {
        peersOf[topic] = bySet.computeIfAbsent(subscribers.get(topic), this::peers);
      }
    }

    private Peers peers(BitSet members) {
      Peers made =
          new Peers(
              members,
              Comparator.<Integer>comparingDouble(m -> memberLoad[m])
                  .thenComparing(Comparator.naturalOrder()));
      peers.add(made);
      owned.put(made, new HashMap<>());
      members.stream().forEach(m -> ofMember.get(m).add(made));
      return made;
    }

    /** Shards stay where they are or are on their way to; the others go where load is least. */
    void place() {
      List<int[]> free = new ArrayList<>();
      for (int topic = 0; topic < peersOf.length; topic++) {
        for (int s = roster.from[topic]; s < roster.from[topic + 1]; s++) {
          int now = roster.heir[s] != Roster.NOBODY ? roster.heir[s] : roster.owner[s];
          if (now != Roster.NOBODY) {
            give(s, peersOf[topic], now);
          } else {
            free.add(new int[] {s, topic});
          }
        }
      }
      free.sort(
          Comparator.<int[]>comparingDouble(each -> -load[each[0]])
              .thenComparingInt(each -> each[0]));
      for (int[] each : free) {
        Peers of = peersOf[each[1]];
        give(each[0], of, of.byLoad.first());
      }
    }

    /** Takes shards from those that have much more than others who may own them. */
    void level() {
      boolean moved;
      do {
        moved = false;
        for (Peers of : peers) {
          while (levelOnce(of)) {
            moved = true;
          }
        }
        // What moved among some may have made another move useful among others.
      } while (moved && peers.size() > 1);
    }

    /** One move from the most loaded of those that have a shard whose move helps. */
    private boolean levelOnce(Peers of) {
      int least = of.byLoad.first();
      for (int most : of.byLoad.descendingSet()) {
        double gap = memberLoad[most] - memberLoad[least];
        if (gap * 100 <= average * GAP_PERCENT) {
          return false;
        }
        int shard = best(of, most, gap);
        if (shard >= 0) {
          take(shard, of, most);
          give(shard, of, least);
          return true;
        }
      }
      return false;
    }

    /** The shard whose move makes two loads with that gap most alike; -1 if none helps enough. */
    private int best(Peers of, int member, double gap) {
      TreeMap<Double, TreeSet<Integer>> shards = of(of, member);
      Double below = shards.floorKey(gap / 2);
      Double above = shards.ceilingKey(gap / 2);
      Double best =
          below == null || above != null && gain(above, gap) > gain(below, gap) ? above : below;
      return best == null || gain(best, gap) * 100 < average * GAIN_PERCENT
          ? -1
          : Objects.requireNonNull(shards.get(best)).first();
    }

    /** By how much the larger of the two loads falls. */
    private static double gain(double moved, double gap) {
      return Math.min(moved, gap - moved);
    }

    private TreeMap<Double, TreeSet<Integer>> of(Peers of, int member) {
      return Objects.requireNonNull(owned.get(of)).computeIfAbsent(member, none -> new TreeMap<>());
    }

    private void give(int shard, Peers of, int member) {
      target[shard] = member;
      of(of, member).computeIfAbsent(load[shard], none -> new TreeSet<>()).add(shard);
      change(member, load[shard]);
    }

    private void take(int shard, Peers of, int member) {
      TreeSet<Integer> same = Objects.requireNonNull(of(of, member).get(load[shard]));
      same.remove(shard);
      if (same.isEmpty()) {
        of(of, member).remove(load[shard]);
      }
      change(member, -load[shard]);
    }

    private void change(int member, double by) {
      ofMember.get(member).forEach(each -> each.byLoad.remove(member));
      memberLoad[member] += by;
      ofMember.get(member).forEach(each -> each.byLoad.add(member));
    }
  }
}
