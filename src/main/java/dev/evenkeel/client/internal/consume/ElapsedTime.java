package dev.evenkeel.client.internal.consume;

import java.util.concurrent.atomic.AtomicReference;

/**
 * A time that goes on while the machine is suspended, in nanoseconds from any beginning; it never
 * goes back. A monotonic clock may stand still in a suspended machine, and the wall clock may be
 * set: whichever has moved further counts. A wall clock that is set forward is taken for a
 * suspension, once, and one that is set back has no effect. Safe for use from any thread.
 */
public final class ElapsedTime {
  /** Differences of the two clocks that are no suspension: how finely they count, and slewing. */
  static final long APART_NANOS_MAX = 100_000_000;

  /**
   * @param apartNanos how far the wall clock is ahead of the monotonic one
   * @param addedNanos to the monotonic clock so far
   */
  private record Known(long apartNanos, long addedNanos) {}

  private final AtomicReference<Known> known;

  /** Begins with two clocks that were read together. */
  public ElapsedTime(long monotonicNanos, long wallMillis) {
    known = new AtomicReference<>(new Known(apart(monotonicNanos, wallMillis), 0));
  }

  /** The time when both clocks were read together. */
  public long nanos(long monotonicNanos, long wallMillis) {
    long apart = apart(monotonicNanos, wallMillis);
    Known before = known.get();
    while (Math.abs(apart - before.apartNanos) > APART_NANOS_MAX) {
      long missed = Math.max(0, apart - before.apartNanos);
      Known next = new Known(apart, before.addedNanos + missed);
      if (known.compareAndSet(before, next)) {
        return monotonicNanos + next.addedNanos;
      }
      before = known.get();
    }
    return monotonicNanos + before.addedNanos;
  }

  /** The time, if only the monotonic clock can be trusted now. */
  public long nanos(long monotonicNanos) {
    return monotonicNanos + known.get().addedNanos;
  }

  private static long apart(long monotonicNanos, long wallMillis) {
    return wallMillis * 1_000_000 - monotonicNanos;
  }
}
