package dev.evenkeel.client.internal.consume;

/**
 * Pauses a consumer while most of its messages fail. What they need is probably down, and trying
 * them all would only use up their attempts.
 *
 * <pre>
 * CLOSED  {@link #FAILED_MIN} of the last {@link #LOOKED_AT} first attempts failed         OPEN
 * CLOSED  {@link #ALL_FAILED_MIN} first attempts have failed and nothing has succeeded,
 * the first of them {@link #ALL_FAILED_MILLIS} ago or earlier                   OPEN
 * OPEN    anything succeeds, or it has been open for {@link #OPEN_MILLIS_MAX}           CLOSED
 * </pre>
 *
 * <p>The first rule is for many messages, the second for few. Only first attempts count towards
 * opening: failing retries of poison messages say nothing about others, and a replayed dead letter
 * is such a retry, too. A lone message never opens it. While it is open, one message at a time is
 * tried, after pauses that grow, and failures do not count. Times are monotonic milliseconds.
 *
 * <p>So if attempts take longer than {@link #ALL_FAILED_MILLIS}, at most {@link #ALL_FAILED_MIN} -
 * 1 messages use up theirs before it opens; otherwise fewer than {@link #LOOKED_AT} do. See ADR 12.
 */
final class Breaker {
  static final int LOOKED_AT = 20;
  static final int FAILED_MIN = 16;
  static final int ALL_FAILED_MIN = 3;
  static final long ALL_FAILED_MILLIS = 60_000;
  static final long OPEN_MILLIS_MAX = 600_000;
  private static final long PAUSE_MILLIS_MIN = 1_000;
  private static final long PAUSE_MILLIS_MAX = 10_000;

  private final boolean enabled;

  /** One bit for each of the last first attempts; 1: it failed. */
  private int failures;

  private int looked;

  /** First attempts that have failed since anything succeeded, or since the breaker closed. */
  private int allFailed;

  /** When the first of those failed. */
  private long allFailedSinceMillis;

  private boolean open;
  private long openedMillis;
  private long nextMillis;
  private long pauseMillis;

  Breaker(boolean enabled) {
    this.enabled = enabled;
  }

  boolean open() {
    return open;
  }

  /**
   * @param running handlers that have not ended
   */
  boolean mayStart(int running, long now) {
    return !open || running == 0 && now >= nextMillis;
  }

  /** How long to wait before the next try while it is open. */
  long waitMillis(long now) {
    return Math.max(0, nextMillis - now);
  }

  /**
   * A message was handled. Returns whether this has closed the breaker.
   *
   * @param first as in {@link #failed}
   */
  boolean succeeded(boolean first) {
    if (open) {
      close();
      return true;
    }
    allFailed = 0;
    if (first) {
      note(0);
    }
    return false;
  }

  /**
   * A message failed. Returns whether this has opened the breaker.
   *
   * @param first whether this was its first attempt
   * @param running handlers that have not ended, without this one
   */
  boolean failed(boolean first, int running, long now) {
    if (open && now - openedMillis >= OPEN_MILLIS_MAX) {
      close();
    }
    if (open) {
      if (running == 0) {
        pauseMillis = Math.min(PAUSE_MILLIS_MAX, 2 * pauseMillis);
        nextMillis = now + pauseMillis;
      }
      return false;
    }
    if (!enabled) {
      return false;
    }
    if (first) {
      note(1);
      allFailedSinceMillis = allFailed == 0 ? now : allFailedSinceMillis;
      allFailed = Math.min(ALL_FAILED_MIN, allFailed + 1);
    }
    open =
        first && mostFail()
            || allFailed == ALL_FAILED_MIN && now - allFailedSinceMillis >= ALL_FAILED_MILLIS;
    if (open) {
      openedMillis = now;
      pauseMillis = PAUSE_MILLIS_MIN;
      nextMillis = now + pauseMillis;
    }
    return open;
  }

  private boolean mostFail() {
    return looked == LOOKED_AT && Integer.bitCount(failures) >= FAILED_MIN;
  }

  private void note(int failure) {
    failures = (failures << 1 | failure) & (1 << LOOKED_AT) - 1;
    looked = Math.min(LOOKED_AT, looked + 1);
  }

  private void close() {
    open = false;
    failures = 0;
    looked = 0;
    allFailed = 0;
  }
}
