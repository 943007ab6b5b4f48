package dev.evenkeel.log.raft;

import java.util.concurrent.TimeUnit;

/**
 * A limited rate of bytes: whoever takes some waits for as long as they last at that rate, after
 * those who took before. What was not taken for a while may be taken at once, but only for a tenth
 * of a second.
 *
 * @param bytesPerSecondMax the rate
 * @param dueNanos when all that was taken may have been moved, by a clock as {@link
 *     System#nanoTime()}
 */
record TransferRate(long bytesPerSecondMax, long dueNanos) {
  private static final long SAVED_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(100);

  static TransferRate of(long bytesPerSecondMax, long nowNanos) {
    return new TransferRate(bytesPerSecondMax, nowNanos);
  }

  /** After someone has taken bytes. */
  TransferRate taken(long bytes, long nowNanos) {
    long saved = nowNanos - SAVED_NANOS_MAX;
    long from = dueNanos - saved > 0 ? dueNanos : saved;
    double nanos = (double) bytes * TimeUnit.SECONDS.toNanos(1) / bytesPerSecondMax;
    return new TransferRate(bytesPerSecondMax, from + (long) nanos);
  }

  /** How long the last one to take has to wait. */
  long waitNanos(long nowNanos) {
    return Math.max(0, dueNanos - nowNanos);
  }
}
