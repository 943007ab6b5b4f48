package dev.evenkeel.bench;

import java.util.concurrent.locks.LockSupport;

/**
 * The schedule of an open load: messages are due at even intervals, whatever happens to those
 * before. Latency counts from the due time, so a stall of the system shows in all messages that
 * were due meanwhile (see "coordinated omission", Gil Tene).
 *
 * @param startNanos when the first one is due
 * @param perSecond above 0
 */
record OpenLoop(long startNanos, double perSecond) {
  OpenLoop {
    if (!(perSecond > 0)) {
      throw new IllegalArgumentException("a rate of " + perSecond + ": it must be above 0");
    }
  }

  /**
   * When the i-th message, from 0, is due. Computed from the start, so rounding errors do not add
   * up.
   */
  long dueNanos(long i) {
    return startNanos + Math.round(i * (1e9 / perSecond));
  }

  /** Waits until the i-th message is due; gives when that is. */
  long await(long i) {
    long due = dueNanos(i);
    for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
      LockSupport.parkNanos(this, left);
    }
    return due;
  }

  /** How many messages are due in the first {@code nanos}. */
  long count(long nanos) {
    return (long) Math.ceil(nanos / 1e9 * perSecond);
  }
}
