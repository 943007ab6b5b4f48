package dev.evenkeel.cluster;

/**
 * Looks at the parts of the shared maps one after another, with a bound on how long a look may
 * take: one that does not return tells as much as one that finds a part without an owner. There is
 * never more than one under way, so that one that hangs costs one thread.
 *
 * <p>Times are of a clock that does not go back.
 */
final class PartsWatch {
  /** A look asks this JVM only, and usually takes less than a millisecond. */
  static final long LOOK_MILLIS_MAX = 5_000;

  private final OwnerlessParts ownerless;
  private boolean looking;
  private long sinceMillis;
  private Boolean complete;

  PartsWatch(OwnerlessParts ownerless) {
    this.ownerless = ownerless;
  }

  /** Whether to look now; if so, {@link #looked} must be told what was seen. */
  boolean mayLook(long nowMillis) {
    complete = null;
    if (looking) {
      if (nowMillis - sinceMillis >= LOOK_MILLIS_MAX) {
        complete = false;
      }
      return false;
    }
    looking = true;
    sinceMillis = nowMillis;
    return true;
  }

  /**
   * @param allOwned whether every part had an owner; null if that could not be seen
   */
  void looked(Boolean allOwned) {
    looking = false;
    complete = allOwned;
  }

  /**
   * To be asked after each look, and when one was not to be begun.
   *
   * @param oldest this member is the oldest of the cluster
   * @return whether parts have had no owner for too long
   */
  boolean stuck(boolean oldest, long nowMillis) {
    return complete != null && ownerless.stuck(complete, oldest, nowMillis);
  }
}
