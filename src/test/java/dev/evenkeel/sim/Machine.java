package dev.evenkeel.sim;

/**
 * The clocks of one machine. The monotonic one never jumps, but stands still while the machine is
 * suspended. The wall clock goes on then, and may be set at any time.
 */
final class Machine {
  private final Timeline time;
  private final long bootMillis;
  private long stoodStillMillis;
  private long wallAheadMillis;

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
    return time.now() + bootMillis - stoodStillMillis;
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

  /** The monotonic clock has missed so much; negative: it has missed less than was thought. */
  void stoodStill(long millis) {
    stoodStillMillis += millis;
  }
}
