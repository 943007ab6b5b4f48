package dev.evenkeel.dedup;

/**
 * How much a stream repeats itself; see {@link RepetitionMeter}.
 *
 * @param level whether deduplication is worth it
 * @param smallestDistance between two of the same; 0: nothing was repeated
 * @param declinedShare of the messages that would be declined, 0 to 1; null: too few were seen
 * @param observedMessages that this is taken from
 */
public record Repetition(
    Level level, int smallestDistance, Double declinedShare, long observedMessages) {
  /** How close the repetitions are. */
  public enum Level {
    /** No message was like another one. */
    NONE,

    /** Messages are repeated, but never while the former one is in flight. */
    SPARSE,

    /** Messages are repeated while the former one is in flight. */
    HIGH
  }
}
