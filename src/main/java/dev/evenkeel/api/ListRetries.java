package dev.evenkeel.api;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Messages that failed and wait for another attempt, by topic, shard and offset. A group that does
 * not exist has none.
 *
 * @param group name of the group
 * @param after only those after this one: topic/shard/offset
 * @param limit most messages
 */
public record ListRetries(
    String group, @Nullable String after, @Bounds(min = 1, max = 1_000) @Default("100") int limit) {

  /**
   * A message that waits for another attempt, or behind one that does.
   *
   * @param parked whether it waits behind another message of its key
   * @param blocksShard whether the whole shard waits for it
   * @param attempts attempts that have failed; 0 if it was parked before the first one
   * @param dueInMs when the next attempt may begin; null while parked
   * @param firstFailed null if no attempt has failed
   */
  public record Retry(
      String topic,
      int shard,
      long offset,
      boolean parked,
      boolean blocksShard,
      int attempts,
      @Nullable Long dueInMs,
      @Nullable Instant firstFailed,
      @Nullable Instant lastFailed) {}
}
