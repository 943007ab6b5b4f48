package dev.evenkeel.cli;

/**
 * Spreads events evenly over time. Somebody who was held up may catch up with at most {@link
 * #BURST_NANOS} worth of them. Pure: the time is handed in.
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

  /** Counts one event, and gives how long to wait before it; 0 or less: not at all. */
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
