package dev.evenkeel.gateway.live;

/**
 * When the dispatcher is asked next: every {@link #INTERVAL_MILLIS}, sooner when something has
 * changed, one question at a time, and never so often that the answers take more than a fifth of
 * the time. Times are monotonic milliseconds.
 */
final class LookPlan {
  static final long INTERVAL_MILLIS = 500;

  /** Two looks begin this far apart, whatever happens. */
  static final long GAP_MILLIS = 110;

  /** So many times the duration of a look passes before the next. */
  private static final int REST = 4;

  private long nextMillis;
  private long soonestMillis;
  private long begunMillis;
  private boolean inFlight;
  private boolean again;

  LookPlan(long nowMillis) {
    nextMillis = nowMillis;
    soonestMillis = nowMillis;
  }

  boolean due(long nowMillis) {
    return !inFlight && nowMillis >= nextMillis;
  }

  void begun(long nowMillis) {
    inFlight = true;
    again = false;
    begunMillis = nowMillis;
  }

  /**
   * @param answered false if it failed: its duration then says nothing of its cost
   */
  void ended(long nowMillis, boolean answered) {
    inFlight = false;
    long restMillis = answered ? REST * (nowMillis - begunMillis) : 0;
    soonestMillis = Math.max(begunMillis + GAP_MILLIS, nowMillis + restMillis);
    nextMillis = again ? soonestMillis : Math.max(begunMillis + INTERVAL_MILLIS, soonestMillis);
  }

  /** Something has changed. What is on its way may have been read before that. */
  void hurry() {
    again = inFlight;
    nextMillis = Math.min(nextMillis, soonestMillis);
  }
}
