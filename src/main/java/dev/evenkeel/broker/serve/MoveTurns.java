package dev.evenkeel.broker.serve;

import dev.evenkeel.protocol.Shard;
import dev.evenkeel.util.Backoff;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which sealed shards move delayed messages now: each in its turn, some at once, and one that fails
 * waits longer and longer. Those that fail never take all places, so they hold up no other shard.
 */
final class MoveTurns {
  /** Shards that move at once. */
  static final int AT_ONCE_MAX = 8;

  /** Of those, shards whose last attempt failed. */
  static final int FAILING_AT_ONCE_MAX = 4;

  private static final long WAIT_MILLIS_MIN = 1_000;
  private static final long WAIT_MILLIS_MAX = 60_000;

  /** The shard whose turn was longest ago is in front. */
  private final Map<Shard, Turn> turns = new LinkedHashMap<>();

  private static final class Turn {
    private boolean underWay;
    private int failures;
    private long againMillis = Long.MIN_VALUE;
  }

  /**
   * The shards whose turn begins now. Each ends with {@link #moved} or {@link #failed}.
   *
   * @param waiting shards that have something to move; others are forgotten
   * @param nowMillis of a monotonic clock
   */
  List<Shard> begin(Collection<Shard> waiting, long nowMillis) {
    Set<Shard> wait = new HashSet<>(waiting);
    turns.entrySet().removeIf(each -> !each.getValue().underWay && !wait.contains(each.getKey()));
    waiting.forEach(shard -> turns.computeIfAbsent(shard, none -> new Turn()));
    int free = AT_ONCE_MAX;
    int failingFree = FAILING_AT_ONCE_MAX;
    for (Turn turn : turns.values()) {
      free -= turn.underWay ? 1 : 0;
      failingFree -= turn.underWay && turn.failures > 0 ? 1 : 0;
    }
    List<Shard> begun = new ArrayList<>();
    for (Map.Entry<Shard, Turn> each : turns.entrySet()) {
      Turn turn = each.getValue();
      boolean failing = turn.failures > 0;
      if (turn.underWay || nowMillis < turn.againMillis || free == 0) {
        continue;
      }
      if (failing && failingFree == 0 || !wait.contains(each.getKey())) {
        continue;
      }
      free--;
      failingFree -= failing ? 1 : 0;
      turn.underWay = true;
      begun.add(each.getKey());
    }
    // They are the last ones next time.
    begun.forEach(shard -> turns.put(shard, turns.remove(shard)));
    return begun;
  }

  void moved(Shard shard) {
    Turn turn = turns.get(shard);
    turn.underWay = false;
    turn.failures = 0;
  }

  /** Returns how long the shard waits now. */
  long failed(Shard shard, long nowMillis) {
    Turn turn = turns.get(shard);
    turn.underWay = false;
    long wait = Backoff.doubling(turn.failures, WAIT_MILLIS_MIN, WAIT_MILLIS_MAX);
    turn.failures++;
    turn.againMillis = nowMillis + wait;
    return wait;
  }
}
