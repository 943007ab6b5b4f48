package dev.evenkeel.cli;

/**
 * Spreads events evenly over time. After a delay, at most {@link #BURST_NANOS} worth of events may
 * catch up. Pure: callers pass the time.
 */
final class Pace {
  static final long BURST_NANOS = 100_000_000;

  private final double nanosEach;
  private double dueNanos;
  private boolean started;

  /**
   * @param perSecond above 0
   */
  Pace(double perSecond) {
    nanosEach = 1e9 / perSecond;
  }

  /** Counts one event; gives how long to wait before it, which may be 0 or less. */
  long waitNanos(long nowNanos) {
    if (!started) {
      started = true;
      dueNanos = nowNanos;
    }
    dueNanos = Math.max(dueNanos, nowNanos - BURST_NANOS);
    long wait = (long) (dueNanos - nowNanos);
    dueNanos += nanosEach;
    return wait;
  }
}
