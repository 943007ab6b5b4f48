package dev.evenkeel.cluster;

/**
 * Finds out that parts of the shared maps stay without an owner. For a moment that is usual: when a
 * member dies, the oldest one gives its parts to others. If it lasts, the oldest one cannot, and
 * nobody else will.
 *
 * <p>A member that is not the oldest waits longer, so that the oldest gives way first.
 */
class OwnerlessParts {
  static final long OLDEST_MILLIS_MAX = 12_000;
  static final long OTHERS_MILLIS_MAX = 45_000;

  private final long oldestMillisMax;
  private final long othersMillisMax;
  private boolean onceComplete;
  private boolean wasOldest;
  private long sinceMillis = -1;

  OwnerlessParts() {
    this(OLDEST_MILLIS_MAX, OTHERS_MILLIS_MAX);
  }

  /**
   * @param oldestMillisMax how long parts may be without owner if this member is the oldest
   * @param othersMillisMax how long if it is not
   */
  OwnerlessParts(long oldestMillisMax, long othersMillisMax) {
    this.oldestMillisMax = oldestMillisMax;
    this.othersMillisMax = othersMillisMax;
  }

  /**
   * To be told once a second or so.
   *
   * @param complete every part has an owner that is a member
   * @param oldest this member is the oldest of the cluster
   * @param nowMillis of a clock that does not go back
   * @return whether it lasts too long. Never before all parts had owners once
   */
  boolean stuck(boolean complete, boolean oldest, long nowMillis) {
    if (complete) {
      onceComplete = true;
      sinceMillis = -1;
      return false;
    }
    if (!onceComplete) {
      return false;
    }
    // Who has just become the oldest has had no time to mend it yet.
    if (sinceMillis < 0 || oldest && !wasOldest) {
      sinceMillis = nowMillis;
    }
    wasOldest = oldest;
    return nowMillis - sinceMillis >= (oldest ? oldestMillisMax : othersMillisMax);
  }
}
