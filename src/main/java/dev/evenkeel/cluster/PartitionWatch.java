package dev.evenkeel.cluster;

/**
 * Detects that partitions of the shared maps stay without an owner. That is normal for a moment:
 * when a member dies, the oldest member gives its partitions to others. If it lasts, the oldest
 * member is unable to, and has to end. Other members wait longer, so that the oldest one ends
 * first.
 *
 * <p>It checks all partitions periodically. A check that does not return in time counts as one that
 * found a partition without an owner. There is at most one check under way, so one that hangs costs
 * one thread.
 *
 * <p>Times are monotonic.
 */
class PartitionWatch {
  static final long OLDEST_MILLIS_MAX = 12_000;
  static final long OTHERS_MILLIS_MAX = 45_000;

  /**
   * Longest time of a check. It reads only local data and usually takes less than a millisecond.
   */
  static final long LOOK_MILLIS_MAX = 5_000;

  private final long oldestMillisMax;
  private boolean looking;
  private long lookSinceMillis;

  /** What the last check has found; null if that is not known. */
  private Boolean complete;

  private boolean onceComplete;
  private boolean wasOldest;
  private long ownerlessSinceMillis = -1;

  PartitionWatch() {
    this(OLDEST_MILLIS_MAX);
  }

  /**
   * @param oldestMillisMax how long partitions may be without an owner if this member is the oldest
   */
  PartitionWatch(long oldestMillisMax) {
    this.oldestMillisMax = oldestMillisMax;
  }

  /** Whether to check now; if so, the caller must call {@link #looked} with the result. */
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
   * @param allOwned whether every partition has an owner; null if the check failed
   */
  void looked(Boolean allOwned) {
    looking = false;
    complete = allOwned;
  }

  /**
   * Says whether this member has to end. Call it after each check, and when {@link #mayLook} gave
   * false.
   *
   * @param oldest this member is the oldest of the cluster
   * @return whether partitions have had no owner for too long; false until all had owners once
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
    // A member that has just become the oldest has had no time to give out the partitions yet.
    if (ownerlessSinceMillis < 0 || oldest && !wasOldest) {
      ownerlessSinceMillis = nowMillis;
    }
    wasOldest = oldest;
    return nowMillis - ownerlessSinceMillis >= (oldest ? oldestMillisMax : OTHERS_MILLIS_MAX);
  }
}
