package dev.evenkeel.client.internal.admission;

import dev.evenkeel.client.Rate;

/**
 * The arithmetic of a token bucket that holds a rate's permits and fills evenly over its period:
 * the virtual scheduling form of the generic cell rate algorithm (ITU-T Recommendation I.371, annex
 * A). The caller keeps one number for each bucket, {@code full}: the time at which it will be full.
 * All full buckets are equal, so a full one can be forgotten. Times are monotonic nanoseconds. The
 * time of a token is rounded up, so that the rate is never exceeded.
 */
final class TokenBucket {
  static final long NANOS_PER_MILLI = 1_000_000;

  /** {@code full} of a new bucket. */
  static final long ALWAYS_FULL = Long.MIN_VALUE / 2;

  private final long tokenNanos;
  private final int permits;

  TokenBucket(Rate rate) {
    long period = rate.periodMillis() * NANOS_PER_MILLI;
    tokenNanos = (period + rate.permits() - 1) / rate.permits();
    permits = rate.permits();
  }

  /** When the next token may be taken. */
  long due(long full) {
    return full - (permits - 1) * tokenNanos;
  }

  /** How many tokens may be taken now. */
  int available(long full, long now) {
    if (full <= now) {
      return permits;
    }
    // Rounded up: a token that is not whole cannot be taken.
    long missing = (full - now + tokenNanos - 1) / tokenNanos;
    return (int) Math.max(0, permits - missing);
  }

  /** When the bucket is full after a token was taken. */
  long taken(long full, long now) {
    return Math.max(full, now) + tokenNanos;
  }
}
