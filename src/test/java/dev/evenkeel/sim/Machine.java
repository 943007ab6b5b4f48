package dev.evenkeel.sim;

/**
 * The clocks of one machine. The monotonic one never jumps, but stands still while the machine is
 * suspended. The wall clock goes on then, and may be set at any time.
 */
final class Machine {
  private final Timeline time;
  private final long bootMillis;
  private long wallAheadMillis;

  /** What the monotonic clock has missed before {@link #suspendedSince}. */
  private long missedMillis;

  private long suspendedSince;
  private long suspendedUntil;

  /**
   * @param bootMillis where the monotonic clock stands now
   * @param wallAheadMillis by how much the wall clock is ahead of virtual time
   */
  Machine(Timeline time, long bootMillis, long wallAheadMillis) {
    this.time = time;
    this.bootMillis = bootMillis;
    this.wallAheadMillis = wallAheadMillis;
  }

  long monotonicMillis() {
    return time.now() + bootMillis - missed();
  }

  long wallMillis() {
    return time.now() + wallAheadMillis;
  }

  long wallAheadMillis() {
    return wallAheadMillis;
  }

  /** Somebody sets the wall clock. */
  void set(long aheadMillis) {
    wallAheadMillis = aheadMillis;
  }

  /** The machine is suspended until then, in virtual time; not any more if that is now. */
  void suspend(long untilMillis) {
    missedMillis = missed();
    suspendedSince = time.now();
    suspendedUntil = untilMillis;
  }

  /** When it goes on, in virtual time; long past if it is not suspended. */
  long suspendedUntil() {
    return suspendedUntil;
  }

  private long missed() {
    return missedMillis + Math.max(0, Math.min(time.now(), suspendedUntil) - suspendedSince);
  }
}
