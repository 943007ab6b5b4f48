package dev.evenkeel.dedup;

/**
 * A step of a shared automaton. Steps may run twice, and out of order after a failure.
 *
 * @param kind the operation
 * @param key the key of the automaton
 * @param claim the claim that joins or leaves
 */
public record Step(Kind kind, DedupKey key, SharedClaim claim) {
  /** The operation of a step. */
  public enum Kind {
    ENQUEUE,
    DEQUEUE
  }
}
