package dev.evenkeel.dedup;

/**
 * One step of a shared automaton. Steps may run twice, and out of order after a failure.
 *
 * @param kind which one
 * @param key whose automaton takes it
 * @param claim of whom
 */
public record Step(Kind kind, DedupKey key, SharedClaim claim) {
  /** What is asked. */
  public enum Kind {
    ENQUEUE,
    DEQUEUE
  }
}
