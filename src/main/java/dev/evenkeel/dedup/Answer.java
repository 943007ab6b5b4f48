package dev.evenkeel.dedup;

/** The answer to a request for a place at a key. */
public enum Answer {
  /** Work on the message now, and give the place back when the work has ended. */
  ACCEPT,

  /**
   * Another claim works on the same key: wait for your turn. The work then sees what changed
   * meanwhile.
   */
  BLOCK,

  /**
   * Another claim works on the same key, and a third one waits, which will start later than now:
   * this message need not be processed.
   */
  DECLINE
}
