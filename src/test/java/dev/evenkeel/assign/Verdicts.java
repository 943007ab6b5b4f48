package dev.evenkeel.assign;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Shard;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** What is right of a plan, told in other ways than the planner's. */
final class Verdicts {
  /** Of the load of one member, where the loads of all are one number. */
  private static final int LOAD_BITS = 8;

  private Verdicts() {}

  /** Every shard that somebody subscribes to has an owner that subscribes to it. */
  static void assertComplete(Snapshot snapshot, Map<Shard, String> targets) {
    Map<String, Set<Integer>> topics = new HashMap<>();
    snapshot.members().forEach(member -> topics.put(member.name(), member.topicIds()));
    for (Snapshot.Held held : snapshot.shards()) {
      String target = targets.get(held.shard());
      if (target == null || !topics.get(target).contains(held.shard().topicId())) {
        assertThat(target).as("owner of %s in %s", held.shard(), snapshot).isIn(topics.keySet());
        assertThat(topics.get(target)).as("topics of %s", target).contains(held.shard().topicId());
      }
    }
    if (targets.size() != snapshot.shards().size()) {
      assertThat(targets).as("%s", snapshot).hasSize(snapshot.shards().size());
    }
  }

  static Map<String, Integer> loads(Snapshot snapshot, Map<Shard, String> targets) {
    Map<String, Integer> loads = new HashMap<>();
    snapshot.members().forEach(member -> loads.put(member.name(), 0));
    targets.values().forEach(owner -> loads.merge(owner, 1, Integer::sum));
    return loads;
  }

  /** Of members with the same subscription, none owns more than one shard more than another. */
  static boolean isBalanced(Snapshot snapshot, Map<Shard, String> targets) {
    Map<String, Integer> loads = loads(snapshot, targets);
    Map<Set<Integer>, int[]> bounds = new HashMap<>();
    for (Snapshot.Member member : snapshot.members()) {
      int load = loads.get(member.name());
      int[] bound =
          bounds.computeIfAbsent(
              member.topicIds(), ids -> new int[] {Integer.MAX_VALUE, Integer.MIN_VALUE});
      bound[0] = Math.min(bound[0], load);
      bound[1] = Math.max(bound[1], load);
    }
    return targets.size() == snapshot.shards().size()
        && bounds.values().stream().allMatch(bound -> bound[1] - bound[0] <= 1);
  }

  /** Whether shards could be passed on from a member to one that owns at least two fewer. */
  static boolean hasCostReducingPath(Snapshot snapshot, Map<Shard, String> targets) {
    Map<String, Integer> loads = loads(snapshot, targets);
    Map<String, Set<Integer>> ownTopics = new HashMap<>();
    targets.forEach(
        (shard, owner) ->
            ownTopics.computeIfAbsent(owner, name -> new HashSet<>()).add(shard.topicId()));
    for (String start : ownTopics.keySet()) {
      Set<String> seen = new HashSet<>(Set.of(start));
      Deque<String> queue = new ArrayDeque<>(seen);
      while (!queue.isEmpty()) {
        Set<Integer> gives = ownTopics.getOrDefault(queue.poll(), Set.of());
        for (Snapshot.Member member : snapshot.members()) {
          if (!seen.contains(member.name()) && !Collections.disjoint(member.topicIds(), gives)) {
            if (loads.get(member.name()) <= loads.get(start) - 2) {
              return true;
            }
            seen.add(member.name());
            queue.add(member.name());
          }
        }
      }
    }
    return false;
  }

  static int moves(Snapshot snapshot, Map<Shard, String> targets) {
    int moves = 0;
    for (Snapshot.Held held : snapshot.shards()) {
      String target = targets.get(held.shard());
      if (held.owner() != null && target != null && !held.owner().equals(target)) {
        moves++;
      }
    }
    return moves;
  }

  static int handoversContinued(Snapshot snapshot, Map<Shard, String> targets) {
    int continued = 0;
    for (Snapshot.Held held : snapshot.shards()) {
      if (held.heir() != null && Objects.equals(held.heir(), targets.get(held.shard()))) {
        continued++;
      }
    }
    return continued;
  }

  /**
   * The fewest moves, if all members subscribe to everything: whoever owns most gets the shares
   * that are larger by one, and what is above the share must go.
   */
  static int uniformMinimum(Snapshot snapshot) {
    Map<String, Integer> owned = new HashMap<>();
    snapshot.members().forEach(member -> owned.put(member.name(), 0));
    int forced = 0;
    for (Snapshot.Held held : snapshot.shards()) {
      if (held.owner() != null) {
        if (owned.containsKey(held.owner())) {
          owned.merge(held.owner(), 1, Integer::sum);
        } else {
          forced++;
        }
      }
    }
    int[] sorted = owned.values().stream().mapToInt(Integer::intValue).sorted().toArray();
    int withOneMore = snapshot.shards().size() % sorted.length;
    int floor = snapshot.shards().size() / sorted.length;
    int moves = forced;
    for (int i = 0; i < sorted.length; i++) {
      int share = floor + (i >= sorted.length - withOneMore ? 1 : 0);
      moves += Math.max(0, sorted[i] - share);
    }
    return moves;
  }

  /**
   * The best of all assignments: the sum of squared loads, and then the moves. Shard by shard, for
   * all loads that some assignment comes to, the fewest moves that lead there.
   */
  static long[] best(Snapshot snapshot) {
    List<Snapshot.Member> members = snapshot.members();
    if (members.size() * LOAD_BITS > Long.SIZE || snapshot.shards().size() >= 1 << LOAD_BITS) {
      throw new IllegalArgumentException("too large: " + snapshot);
    }
    Map<Long, Integer> fewest = Map.of(0L, 0);
    for (Snapshot.Held held : snapshot.shards()) {
      Map<Long, Integer> next = new HashMap<>();
      for (int m = 0; m < members.size(); m++) {
        Snapshot.Member member = members.get(m);
        if (member.topicIds().contains(held.shard().topicId())) {
          boolean isMove = held.owner() != null && !held.owner().equals(member.name());
          long one = 1L << m * LOAD_BITS;
          fewest.forEach(
              (loads, moves) -> next.merge(loads + one, moves + (isMove ? 1 : 0), Math::min));
        }
      }
      fewest = next;
    }
    long[] best = {Long.MAX_VALUE, Long.MAX_VALUE};
    fewest.forEach(
        (loads, moves) -> {
          long squares = squares(loads);
          if (squares < best[0] || squares == best[0] && moves < best[1]) {
            best[0] = squares;
            best[1] = moves;
          }
        });
    return best;
  }

  private static long squares(long loads) {
    long squares = 0;
    for (long left = loads; left != 0; left >>>= LOAD_BITS) {
      long load = left & (1 << LOAD_BITS) - 1;
      squares += load * load;
    }
    return squares;
  }

  static long squares(Snapshot snapshot, Map<Shard, String> targets) {
    return loads(snapshot, targets).values().stream().mapToLong(load -> (long) load * load).sum();
  }
}
