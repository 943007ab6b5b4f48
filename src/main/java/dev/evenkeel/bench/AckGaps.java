package dev.evenkeel.bench;

import java.util.Arrays;
import java.util.Collection;

/**
 * How long each shard was without acknowledgements since a moment. Pure but for its lock: answers
 * come on any thread.
 */
final class AckGaps {
  private final long[] lastNanos;
  private final long[] worstNanos;

  AckGaps(int shards, long nowNanos) {
    lastNanos = new long[shards];
    worstNanos = new long[shards];
    begin(nowNanos);
  }

  /** From here on gaps count; what came before is forgotten. */
  synchronized void begin(long nowNanos) {
    Arrays.fill(lastNanos, nowNanos);
    Arrays.fill(worstNanos, 0);
  }

  synchronized void acked(int shard, long nowNanos) {
    worstNanos[shard] = Math.max(worstNanos[shard], nowNanos - lastNanos[shard]);
    lastNanos[shard] = nowNanos;
  }

  /** The longest gap of any of {@code shards}, one that lasts still included; 0 without shards. */
  synchronized long worstNanos(Collection<Integer> shards, long nowNanos) {
    return shards.stream()
        .mapToLong(shard -> Math.max(worstNanos[shard], nowNanos - lastNanos[shard]))
        .max()
        .orElse(0);
  }

  /** How long the shard that waits longest has been waiting. */
  synchronized long waitingNanos(long nowNanos) {
    return nowNanos - Arrays.stream(lastNanos).min().orElse(nowNanos);
  }
}
