package dev.evenkeel.bench;

import java.util.concurrent.locks.LockSupport;

/**
 * When each message of an open load is meant to be sent: evenly spread, whatever happens to those
 * before it. Latency is counted from that moment, so a system that stalls is not spared the
 * messages that would have come meanwhile ("coordinated omission", Gil Tene).
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

  /** When the i-th message, from 0, is due. Computed from the start, so that no error adds up. */
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

  /** How many messages are due before {@code nanos} have gone by. */
  long count(long nanos) {
    return (long) Math.ceil(nanos / 1e9 * perSecond);
  }
}
