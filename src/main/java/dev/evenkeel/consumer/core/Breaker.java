package dev.evenkeel.consumer.core;

/**
 * Pauses a consumer of which most messages fail: what they need is gone, and trying them all would
 * only use up their attempts.
 *
 * <pre>
 * CLOSED  of the last {@link #LOOKED_AT} first attempts {@link #FAILED_MIN} failed   OPEN
 * OPEN    anything succeeds, or it has been open for {@link #OPEN_MILLIS_MAX}        CLOSED
 * </pre>
 *
 * <p>Only first attempts count towards opening: that retries of poison fail says nothing. While it
 * is open one message at a time is tried, after pauses that grow, and failures do not count. Times
 * are monotonic milliseconds.
 */
final class Breaker {
  static final int LOOKED_AT = 20;
  static final int FAILED_MIN = 16;
  static final long OPEN_MILLIS_MAX = 600_000;
  private static final long PAUSE_MILLIS_MIN = 1_000;
  private static final long PAUSE_MILLIS_MAX = 10_000;

  private final boolean enabled;

  /** One bit for each of the last first attempts; 1: it failed. */
  private int failures;

  private int looked;
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

  /** A message was handled. Returns whether this has closed it. */
  boolean succeeded(int attempt) {
    if (open) {
      close();
      return true;
    }
    if (attempt == 1) {
      note(0);
    }
    return false;
  }

  /**
   * A message failed. Returns whether this has opened it.
   *
   * @param running handlers that have not ended, without this one
   */
  boolean failed(int attempt, int running, long now) {
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
    if (!enabled || attempt != 1) {
      return false;
    }
    note(1);
    if (looked < LOOKED_AT || Integer.bitCount(failures) < FAILED_MIN) {
      return false;
    }
    open = true;
    openedMillis = now;
    pauseMillis = PAUSE_MILLIS_MIN;
    nextMillis = now + pauseMillis;
    return true;
  }

  private void note(int failure) {
    failures = (failures << 1 | failure) & (1 << LOOKED_AT) - 1;
    looked = Math.min(LOOKED_AT, looked + 1);
  }

  private void close() {
    open = false;
    failures = 0;
    looked = 0;
  }
}
