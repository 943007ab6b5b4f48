package dev.evenkeel.dedup;

/** What came of giving a place back. */
public enum Departure {
  /** It was the head and nobody waited. */
  FREED,

  /** It was the head; who waited is the head now. */
  PASSED_ON,

  /** It waited, and gave up its place in the queue. */
  LEFT_QUEUE,

  /**
   * It has no place, and nothing was changed: it was evicted (by the timeout, as a dead member's,
   * or for space), or has given its place back before. If it was at work, another may have been,
   * too.
   */
  NOT_HEAD
}
