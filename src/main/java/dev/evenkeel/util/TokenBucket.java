package dev.evenkeel.util;

/**
 * The arithmetic of a token bucket that fills evenly: the virtual scheduling form of the generic
 * cell rate algorithm (ITU-T Recommendation I.371, annex A). The caller keeps one number for each
 * bucket, {@code full}: the time at which it will be full. All full buckets are equal, so a full
 * one can be forgotten. Times are monotonic nanoseconds.
 */
public final class TokenBucket {
  public static final long NANOS_PER_MILLI = 1_000_000;

  /** {@code full} of a new bucket. */
  public static final long ALWAYS_FULL = Long.MIN_VALUE / 2;

  /** Its tokens are nanoseconds, and it saves none. */
  public static final TokenBucket OF_TIME = new TokenBucket(1, 0);

  private final long tokenNanos;
  private final long savedNanosMax;

  /**
   * @param tokenNanos how long one token takes to come; 1 or more
   * @param savedNanosMax how many nanoseconds' worth of tokens it holds, beside the first
   */
  public TokenBucket(long tokenNanos, long savedNanosMax) {
    this.tokenNanos = tokenNanos;
    this.savedNanosMax = savedNanosMax;
  }

  /** A bucket of so many tokens; the time of one is rounded up, so nobody exceeds the rate. */
  public static TokenBucket of(int tokens, long periodNanos) {
    long tokenNanos = (periodNanos + tokens - 1) / tokens;
    return new TokenBucket(tokenNanos, (tokens - 1) * tokenNanos);
  }

  /** When the next token may be taken. */
  public long due(long full) {
    return full - savedNanosMax;
  }

  /** How many tokens may be taken now. */
  public int available(long full, long now) {
    long permits = savedNanosMax / tokenNanos + 1;
    if (full <= now) {
      return (int) permits;
    }
    // Rounded up: a token that is not whole cannot be taken.
    long missing = (full - now + tokenNanos - 1) / tokenNanos;
    return (int) Math.max(0, permits - missing);
  }

  /** When the bucket is full after a token was taken. */
  public long taken(long full, long now) {
    return taken(full, now, 1);
  }

  /** When the bucket is full after tokens were taken, which may be more than it had. */
  public long taken(long full, long now, long tokens) {
    return (full - now > 0 ? full : now) + tokens * tokenNanos;
  }
}
