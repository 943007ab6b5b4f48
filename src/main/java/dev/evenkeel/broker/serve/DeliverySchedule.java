package dev.evenkeel.broker.serve;

import dev.evenkeel.util.Backoff;

/**
 * Computes when the leader of a data log group next delivers due messages, from the next due time
 * and the time of the last delivery. It reads no clock.
 */
final class DeliverySchedule {
  /** Nothing waits; whoever adds a delayed message will call again. */
  static final long NOTHING = -1;

  /**
   * Between two deliveries of a group: a thousand messages due a second are fifty entries of the
   * log, not a thousand.
   */
  static final long PAUSE_MILLIS = 20;

  /** Pause while deliveries fail. */
  static final long FAILED_PAUSE_MILLIS_MAX = 1_000;

  /** How long at most until the clock is read again: it may have been set. */
  static final long LOOK_MILLIS_MAX = 1_000;

  private DeliverySchedule() {}

  /**
   * How long to wait before delivering; 0: deliver now.
   *
   * @param nowMillis by the clock that messages are due by, milliseconds since 1970
   * @param nextDueMillis by the same; {@link Long#MAX_VALUE}: nothing waits
   * @param sinceLastMillis since the last delivery began, by a clock that only grows
   * @param failuresInRow deliveries that failed since one succeeded
   */
  static long waitMillis(
      long nowMillis, long nextDueMillis, long sinceLastMillis, int failuresInRow) {
    if (nextDueMillis == Long.MAX_VALUE) {
      return NOTHING;
    }
    long pause = Backoff.doubling(failuresInRow, PAUSE_MILLIS, FAILED_PAUSE_MILLIS_MAX);
    long untilTurn = Math.max(0, pause - sinceLastMillis);
    long untilDue = Math.max(0, nextDueMillis - nowMillis);
    return Math.min(LOOK_MILLIS_MAX, Math.max(untilTurn, untilDue));
  }
}
