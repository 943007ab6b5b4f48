package dev.evenkeel.consumer;

/**
 * When the next heartbeat is sent: one an interval, at once when something has changed, soon after
 * one that was not taken, and never more than one in flight. Times are monotonic milliseconds.
 */
final class HeartbeatPlan {
  private final long intervalMillis;
  private long nextMillis;
  private boolean inFlight;
  private boolean again;

  HeartbeatPlan(long intervalMillis, long nowMillis) {
    this.intervalMillis = intervalMillis;
    nextMillis = nowMillis;
  }

  boolean due(long nowMillis) {
    return !inFlight && nowMillis >= nextMillis;
  }

  /** There is something to tell. If one is in flight, another follows it. */
  void hurry(long nowMillis) {
    again = inFlight;
    nextMillis = Math.min(nextMillis, nowMillis);
  }

  void sent(long nowMillis) {
    inFlight = true;
    again = false;
    nextMillis = nowMillis + intervalMillis;
  }

  void answered(long nowMillis) {
    inFlight = false;
    if (again) {
      nextMillis = nowMillis;
    }
  }

  /** It was not taken, or could not be sent. */
  void failed(long nowMillis, long waitMillis) {
    inFlight = false;
    nextMillis = nowMillis + waitMillis;
  }
}
