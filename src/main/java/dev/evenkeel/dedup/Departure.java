package dev.evenkeel.dedup;

/** The result of giving a place back. */
public enum Departure {
  /** It was the head, and nobody waited. */
  FREED,

  /** It was the head; the tail is the head now. */
  PASSED_ON,

  /** It was the tail. */
  LEFT_QUEUE,

  /**
   * It had no place, so nothing changed: it was evicted (because it took too long, its member was
   * dead, or for space), or gave its place back before. If it worked, another may have worked on
   * the key at the same time.
   */
  NOT_HEAD,

  /**
   * Nobody knows: no answer came, or only one to a repeated request, whose former one may have
   * given it back. No automaton says this.
   */
  UNKNOWN
}
