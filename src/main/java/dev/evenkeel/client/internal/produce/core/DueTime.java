package dev.evenkeel.client.internal.produce.core;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.time.Duration;
import java.time.Instant;

/**
 * The time when a delayed message is due, as the log gets it. It is rounded up, so that messages
 * sent at about the same time share batches, and none comes too early.
 */
public final class DueTime {
  /** Not delayed. */
  public static final long NOW = 0;

  /** All times are multiples of it. */
  public static final long STEP_MILLIS = 10;

  private static final Duration NEVER = Duration.ofDays(365_000);

  private DueTime() {}

  /**
   * The time that is {@code delay} after now.
   *
   * @param delay longer than any that is allowed: a time that {@link #of} refuses
   */
  public static Instant after(Duration delay, long nowMillis) {
    Duration bounded =
        delay.compareTo(NEVER) > 0 ? NEVER : delay.isNegative() ? Duration.ZERO : delay;
    return Instant.ofEpochMilli(nowMillis).plus(bounded);
  }

  /**
   * {@link #NOW} if the time has come already.
   *
   * @param wantedMillis milliseconds since 1970
   * @param nowMillis by the same clock
   * @throws RefusedException INVALID if it is too far away
   */
  public static long of(long wantedMillis, long nowMillis) {
    if (wantedMillis <= nowMillis) {
      return NOW;
    }
    if (wantedMillis - nowMillis > Limits.DELAY_MILLIS_MAX) {
      throw new RefusedException(
          Refusal.INVALID,
          "a delay of "
              + (wantedMillis - nowMillis)
              + " ms: at most "
              + Limits.DELAY_MILLIS_MAX
              + " (30 days) are allowed");
    }
    return (wantedMillis + STEP_MILLIS - 1) / STEP_MILLIS * STEP_MILLIS;
  }
}
