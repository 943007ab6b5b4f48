package dev.evenkeel.cluster;

/**
 * Finds out that partitions of the shared maps stay without an owner. For a moment that is usual:
 * when a member dies, the oldest one gives its partitions to others. If it lasts, the oldest one
 * cannot, and nobody else will. A member that is not the oldest waits longer, so that the oldest
 * gives way first.
 *
 * <p>It looks at all partitions again and again, with a bound on how long a look may take: one that
 * does not return tells as much as one that finds a partition without an owner. There is never more
 * than one under way, so that one that hangs costs one thread.
 *
 * <p>Times are of a clock that does not go back.
 */
class PartitionWatch {
  static final long OLDEST_MILLIS_MAX = 12_000;
  static final long OTHERS_MILLIS_MAX = 45_000;

  /** A look asks this JVM only, and usually takes less than a millisecond. */
  static final long LOOK_MILLIS_MAX = 5_000;

  private final long oldestMillisMax;
  private boolean looking;
  private long lookSinceMillis;

  /** What the last look has found; null if that is not known. */
  private Boolean complete;

  private boolean onceComplete;
  private boolean wasOldest;
  private long ownerlessSinceMillis = -1;

  PartitionWatch() {
    this(OLDEST_MILLIS_MAX);
  }

  /**
   * @param oldestMillisMax how long partitions may be without owner if this member is the oldest
   */
  PartitionWatch(long oldestMillisMax) {
    this.oldestMillisMax = oldestMillisMax;
  }

  /** Whether to look now; if so, {@link #looked} must be told what was seen. */
  boolean mayLook(long nowMillis) {
    complete = null;
    if (looking) {
      if (nowMillis - lookSinceMillis >= LOOK_MILLIS_MAX) {
        complete = false;
      }
      return false;
    }
    looking = true;
    lookSinceMillis = nowMillis;
    return true;
  }

  /**
   * @param allOwned whether every partition has an owner that is a member; null if that could not
   *     be seen
   */
  void looked(Boolean allOwned) {
    looking = false;
    complete = allOwned;
  }

  /**
   * To be asked after each look, and when one was not to be begun.
   *
   * @param oldest this member is the oldest of the cluster
   * @return whether partitions have had no owner for too long. Never before all had owners once
   */
  boolean stuck(boolean oldest, long nowMillis) {
    if (complete == null) {
      return false;
    }
    if (complete) {
      onceComplete = true;
      ownerlessSinceMillis = -1;
      return false;
    }
    if (!onceComplete) {
      return false;
    }
    // Who has just become the oldest has had no time to mend it yet.
    if (ownerlessSinceMillis < 0 || oldest && !wasOldest) {
      ownerlessSinceMillis = nowMillis;
    }
    wasOldest = oldest;
    return nowMillis - ownerlessSinceMillis >= (oldest ? oldestMillisMax : OTHERS_MILLIS_MAX);
  }
}
