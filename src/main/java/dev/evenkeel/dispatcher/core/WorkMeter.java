package dev.evenkeel.dispatcher.core;

import dev.evenkeel.assign.Snapshot;

/**
 * How much work a shard makes, by the reports of its owners: averages in which what is older than
 * {@value #REMEMBERED_MILLIS} ms counts little.
 */
final class WorkMeter {
  static final long REMEMBERED_MILLIS = 60_000;

  /** The work is unknown until it has been measured for this long. */
  static final long MEASURED_MILLIS_MIN = 10_000;

  /** A report that follows another one sooner than this is ignored. */
  private static final long APART_MILLIS_MIN = 500;

  private long epoch = -1;
  private long atMillis;
  private long busyMillis;
  private long bytes;
  private long measuredMillis;
  private double busy;
  private double bytesPerSecond;

  /**
   * The owner at that epoch says what it has done in all.
   *
   * @param busyTotal time of its handlers, in milliseconds
   * @param bytesTotal what they have handled
   */
  void heard(long ownerEpoch, long busyTotal, long bytesTotal, long nowMillis) {
    long passed = nowMillis - atMillis;
    if (ownerEpoch < epoch || ownerEpoch == epoch && passed < APART_MILLIS_MIN) {
      return;
    }
    if (ownerEpoch == epoch) {
      double old = Math.exp(-(double) passed / REMEMBERED_MILLIS);
      // The first measurement counts in full.
      double kept = measuredMillis == 0 ? 0 : old;
      busy = kept * busy + (1 - kept) * Math.max(0, busyTotal - busyMillis) / passed;
      bytesPerSecond =
          kept * bytesPerSecond + (1 - kept) * 1_000 * Math.max(0, bytesTotal - bytes) / passed;
      measuredMillis += passed;
    }
    epoch = ownerEpoch;
    atMillis = nowMillis;
    busyMillis = busyTotal;
    bytes = bytesTotal;
  }

  /** What is known of it; null: too little. */
  Snapshot.Work work() {
    return measuredMillis < MEASURED_MILLIS_MIN ? null : new Snapshot.Work(busy, bytesPerSecond);
  }
}
