package dev.evenkeel.dedup;

/** What becomes of a request. */
public enum Answer {
  /** Work on it now, and give the place back when that has ended. */
  ACCEPT,

  /** Another works on the same: wait for your turn. It will see what changed meanwhile. */
  BLOCK,

  /** Another works on the same and yet another waits, which will start later than now. */
  DECLINE
}
