package dev.evenkeel.gateway.live;

/**
 * Decides when to ask the dispatcher next: every {@link #INTERVAL_MILLIS}, sooner when something
 * has changed, one question at a time, and so rarely that answering takes at most a fifth of the
 * time. Times are monotonic milliseconds.
 */
final class LookPlan {
  static final long INTERVAL_MILLIS = 500;

  /** Least time between the beginnings of two looks. */
  static final long GAP_MILLIS = 110;

  /** The pause after a look is this many times its duration. */
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
   * @param answered whether it succeeded; the duration of a failure says nothing about its cost
   */
  void ended(long nowMillis, boolean answered) {
    inFlight = false;
    long restMillis = answered ? REST * (nowMillis - begunMillis) : 0;
    soonestMillis = Math.max(begunMillis + GAP_MILLIS, nowMillis + restMillis);
    nextMillis = again ? soonestMillis : Math.max(begunMillis + INTERVAL_MILLIS, soonestMillis);
  }

  /** Notes a change. An answer under way may have been read before it, so another look follows. */
  void hurry() {
    again = inFlight;
    nextMillis = Math.min(nextMillis, soonestMillis);
  }
}
