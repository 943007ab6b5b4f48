package dev.evenkeel.dedup;

import org.jspecify.annotations.Nullable;

/**
 * How much a stream of messages repeats itself; see {@link RepetitionMeter}.
 *
 * @param level whether deduplication is worth it
 * @param smallestDistance between two equal messages; 0: no message was repeated
 * @param declinedShare share of the messages that would be declined, 0 to 1; null: too few were
 *     seen
 * @param observedMessages how many messages were measured
 */
public record Repetition(
    Level level, int smallestDistance, @Nullable Double declinedShare, long observedMessages) {
  /** How close the repetitions are. */
  public enum Level {
    /** No message was repeated. */
    NONE,

    /** Messages are repeated, but never while the former one is in flight. */
    SPARSE,

    /** Messages are repeated while the former one is in flight. */
    HIGH
  }
}
