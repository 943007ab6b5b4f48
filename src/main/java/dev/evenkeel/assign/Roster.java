package dev.evenkeel.assign;

import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot with numbers in place of names. Members, topics and shards are sorted, so the order of
 * the snapshot's lists makes no difference. Shards without a subscriber are left out.
 */
final class Roster {
  /** Instead of a member's number: nobody that may own the shard. */
  static final int NOBODY = -1;

  final String[] members;

  /** Of each member, the topics that it subscribes to and that have shards; ascending. */
  final int[][] topicsOf;

  final Shard[] shards;

  /** The shards of topic {@code t} are those from {@code from[t]} to before {@code from[t + 1]}. */
  final int[] from;

  /** Who may keep the shard: its owner, if that is a member and subscribes to it. */
  final int[] owner;

  /** Who gets it by the hand-over under way, if that may own it and does not yet. */
  final int[] heir;

  /** Whether a hand-over is under way, be it to somebody who may not own the shard any more. */
  final boolean[] draining;

  /** Messages behind; the largest value if unknown. */
  final long[] lag;

  /** What the shard costs its owner; null if unknown. */
  final Snapshot.@Nullable Work[] work;

  private Roster(String[] members, int[][] topicsOf, List<Snapshot.Held> helds, int[] from) {
    int count = helds.size();
    this.members = members;
    this.topicsOf = topicsOf;
    this.from = from;
    shards = new Shard[count];
    owner = new int[count];
    heir = new int[count];
    draining = new boolean[count];
    lag = new long[count];
    work = new Snapshot.Work[count];
  }

  static Roster of(Snapshot snapshot) {
    List<Snapshot.Member> members = new ArrayList<>(snapshot.members());
    members.sort(Comparator.comparing(Snapshot.Member::name));
    Map<Set<Integer>, int[]> topicsOfSets = new HashMap<>();
    for (Snapshot.Member member : members) {
      topicsOfSets.put(member.topicIds(), null);
    }
    List<Snapshot.Held> helds = subscribed(snapshot.shards(), topicsOfSets.keySet());
    TreeMap<Integer, Integer> topics = new TreeMap<>();
    int[] from = number(helds, topics);
    topicsOfSets.replaceAll(
        (ids, none) -> ids.stream().filter(topics::containsKey).mapToInt(topics::get).toArray());
    topicsOfSets.values().forEach(Arrays::sort);
    int[][] topicsOf =
        members.stream().map(member -> topicsOfSets.get(member.topicIds())).toArray(int[][]::new);
    String[] names = members.stream().map(Snapshot.Member::name).toArray(String[]::new);
    Roster roster = new Roster(names, topicsOf, helds, from);
    roster.fill(members, helds);
    return roster;
  }

  private static List<Snapshot.Held> subscribed(
      List<Snapshot.Held> all, Set<Set<Integer>> subscriptions) {
    Map<Integer, Boolean> wanted = new HashMap<>();
    List<Snapshot.Held> helds = new ArrayList<>(all.size());
    for (Snapshot.Held held : all) {
      if (wanted.computeIfAbsent(
          held.shard().topicId(), id -> subscriptions.stream().anyMatch(ids -> ids.contains(id)))) {
        helds.add(held);
      }
    }
    helds.sort(Comparator.comparing(Snapshot.Held::shard));
    return helds;
  }

  private static int[] number(List<Snapshot.Held> helds, Map<Integer, Integer> topics) {
    List<Integer> from = new ArrayList<>();
    for (int s = 0; s < helds.size(); s++) {
      if (topics.putIfAbsent(helds.get(s).shard().topicId(), topics.size()) == null) {
        from.add(s);
      }
    }
    from.add(helds.size());
    return from.stream().mapToInt(Integer::intValue).toArray();
  }

  private void fill(List<Snapshot.Member> sorted, List<Snapshot.Held> helds) {
    Map<String, Integer> numbers = new HashMap<>();
    for (int m = 0; m < members.length; m++) {
      numbers.put(members[m], m);
    }
    for (int s = 0; s < shards.length; s++) {
      Snapshot.Held held = helds.get(s);
      shards[s] = held.shard();
      owner[s] = mayOwn(sorted, numbers.get(held.owner()), held.shard());
      int next = mayOwn(sorted, numbers.get(held.heir()), held.shard());
      heir[s] = next == owner[s] ? NOBODY : next;
      draining[s] = held.heir() != null && !held.heir().equals(held.owner());
      work[s] = held.work();
      lag[s] = held.lag() == null ? Long.MAX_VALUE : held.lag();
    }
  }

  private static int mayOwn(List<Snapshot.Member> sorted, @Nullable Integer member, Shard shard) {
    return member != null && sorted.get(member).topicIds().contains(shard.topicId())
        ? member
        : NOBODY;
  }

  int topics() {
    return from.length - 1;
  }

  /** Of each topic, the members that subscribe to it. */
  List<BitSet> subscribers() {
    List<BitSet> subscribers = new ArrayList<>();
    for (int topic = 0; topic < topics(); topic++) {
      subscribers.add(new BitSet());
    }
    for (int m = 0; m < members.length; m++) {
      for (int topic : topicsOf[m]) {
        subscribers.get(topic).set(m);
      }
    }
    return subscribers;
  }

  /** How many shards each member owns and may keep. */
  int[] loads() {
    int[] loads = new int[members.length];
    for (int member : owner) {
      if (member != NOBODY) {
        loads[member]++;
      }
    }
    return loads;
  }

  /**
   * Orders shards by which is rather taken from its owner: one whose hand-over is under way, then
   * the one with less lag, then the first.
   */
  int compareToShed(int a, int b) {
    if (draining[a] != draining[b]) {
      return draining[a] ? -1 : 1;
    }
    int byLag = Long.compare(lag[a], lag[b]);
    return byLag != 0 ? byLag : Integer.compare(a, b);
  }
}
