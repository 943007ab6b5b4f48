package dev.evenkeel.api;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A message that a group has given up.
 *
 * @param key null: it has none, or whoever asks may not see it
 * @param payload null: whoever asks may not see it
 * @param attempts how often it was tried
 * @param error class and message of the last failure
 */
public record DeadLetterView(
    String topic,
    int shard,
    long offset,
    @Nullable TextOrBytes key,
    @Nullable TextOrBytes payload,
    int attempts,
    String error,
    Instant firstFailed,
    Instant lastFailed) {

  /** How {@link #name} is written. */
  public static final String NAME = "topic/shard/offset, like orders/2/17";

  /** Its name in questions, such as {@code orders/2/17}. */
  public String name() {
    return topic + "/" + shard + "/" + offset;
  }
}
