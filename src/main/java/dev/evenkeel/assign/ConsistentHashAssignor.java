package dev.evenkeel.assign;

import dev.evenkeel.protocol.Shard;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Consistent hashing with bounded loads (Mirrokni, Thorup, Zadimoghaddam, "Consistent hashing with
 * bounded loads", SODA 2018): each member has {@value #POINTS} points on a ring, and a shard
 * belongs to the first subscriber clockwise from its own point that is not full.
 *
 * <p>What it promises:
 *
 * <ul>
 *   <li>The answer follows from the names of the members, their subscriptions and the shards alone.
 *       Who owns what now makes no difference, so a group that returns to the same members returns
 *       to the same owners. It is the same in every JVM.
 *   <li>Where all members subscribe to the same topics, none owns more than 1.25 times the average,
 *       rounded up. It may own fewer, or nothing: this is not level.
 *   <li>With mixed subscriptions the bound is 1.25 times the sum of the member's equal parts of its
 *       topics, rounded up. Where all subscribers of a topic are full, the one that is least above
 *       its bound gets the shard.
 *   <li>When a member comes or goes, most of the shards of others stay; more may move than need to.
 * </ul>
 */
public final class ConsistentHashAssignor implements Assignor {

  public static final String NAME = "consistent-hash";

  /** Points of each member on the ring. */
  static final int POINTS = 64;

  /** Most that a member may own, in percent of its fair part. */
  private static final long BOUND_PERCENT = 125;

  /** Fair parts are counted in this part of a shard, so that no rounding depends on an order. */
  private static final long PARTS = 1L << 32;

  /** A member's place on the ring. */
  private record Point(long hash, int member) implements Comparable<Point> {
    @Override
    public int compareTo(Point other) {
      int byHash = Long.compareUnsigned(hash, other.hash);
      return byHash != 0 ? byHash : Integer.compare(member, other.member);
    }
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Map<Shard, String> assign(Snapshot snapshot) {
    Roster roster = Roster.of(snapshot);
    List<BitSet> subscribers = roster.subscribers();
    int[] bounds = bounds(roster, subscribers);
    Point[] ring = ring(roster.members);
    Map<BitSet, Point[]> rings = new HashMap<>();
    int[] loads = new int[bounds.length];
    Map<Shard, String> targets = new HashMap<>(roster.shards.length * 2);
    for (int topic = 0; topic < roster.topics(); topic++) {
      BitSet members = subscribers.get(topic);
      Point[] own = rings.computeIfAbsent(members, set -> only(set, ring));
      for (int s = roster.from[topic]; s < roster.from[topic + 1]; s++) {
        int owner = owner(own, members, Hash.of(roster.shards[s].toString()), loads, bounds);
        loads[owner]++;
        targets.put(roster.shards[s], roster.members[owner]);
      }
    }
    return targets;
  }

  private static int[] bounds(Roster roster, List<BitSet> subscribers) {
    // The parts of a topic together are rounded up once, not topic by topic.
    long[] fair = new long[roster.members.length];
    Map<BitSet, Long> shardsOfSets = new HashMap<>();
    for (int topic = 0; topic < roster.topics(); topic++) {
      long shards = roster.from[topic + 1] - roster.from[topic];
      shardsOfSets.merge(subscribers.get(topic), shards, Long::sum);
    }
    shardsOfSets.forEach(
        (members, shards) -> {
          long part = shards * PARTS / members.cardinality();
          members.stream().forEach(m -> fair[m] += part);
        });
    return Arrays.stream(fair)
        .mapToInt(parts -> (int) -Math.floorDiv(-(parts / 100 * BOUND_PERCENT), PARTS))
        .toArray();
  }

  private static Point[] ring(String[] members) {
    Point[] ring = new Point[members.length * POINTS];
    for (int i = 0; i < ring.length; i++) {
      int member = i / POINTS;
      ring[i] = new Point(Hash.of(members[member] + '#' + i % POINTS), member);
    }
    Arrays.sort(ring);
    return ring;
  }

  private static Point[] only(BitSet members, Point[] ring) {
    return Arrays.stream(ring).filter(point -> members.get(point.member())).toArray(Point[]::new);
  }

  private static int owner(Point[] ring, BitSet members, long hash, int[] loads, int[] bounds) {
    int found = Arrays.binarySearch(ring, new Point(hash, -1));
    int at = found >= 0 ? found : -found - 1;
    for (int i = 0; i < ring.length; i++) {
      int member = ring[(at + i) % ring.length].member();
      if (loads[member] < bounds[member]) {
        return member;
      }
    }
    int least = members.nextSetBit(0);
    for (int m = least; m >= 0; m = members.nextSetBit(m + 1)) {
      if (loads[m] - bounds[m] < loads[least] - bounds[least]) {
        least = m;
      }
    }
    return least;
  }
}
