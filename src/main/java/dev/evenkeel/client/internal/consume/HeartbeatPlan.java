package dev.evenkeel.client.internal.consume;

/**
 * When the next heartbeat is sent: one an interval, at once when something has changed, soon after
 * one that was not taken, and never more than one in flight. Times are monotonic milliseconds.
 */
public final class HeartbeatPlan {
  /** How long something that is not urgent may wait for more of its kind. */
  static final long SOON_MILLIS = 25;

  private final long intervalMillis;
  private long nextMillis;
  private boolean inFlight;
  private boolean again;

  public HeartbeatPlan(long intervalMillis, long nowMillis) {
    this.intervalMillis = intervalMillis;
    nextMillis = nowMillis;
  }

  public boolean due(long nowMillis) {
    return !inFlight && nowMillis >= nextMillis;
  }

  /** There is something to tell. If one is in flight, another follows it. */
  public void hurry(long nowMillis) {
    again = inFlight;
    nextMillis = Math.min(nextMillis, nowMillis);
  }

  /** There is something to tell that is not urgent. */
  public void soon(long nowMillis) {
    again |= inFlight;
    nextMillis = Math.min(nextMillis, nowMillis + SOON_MILLIS);
  }

  public void sent(long nowMillis) {
    inFlight = true;
    again = false;
    nextMillis = nowMillis + intervalMillis;
  }

  public void answered(long nowMillis) {
    inFlight = false;
    if (again) {
      nextMillis = nowMillis;
    }
  }

  /** It was not taken, or could not be sent. */
  public void failed(long nowMillis, long waitMillis) {
    inFlight = false;
    nextMillis = nowMillis + waitMillis;
  }
}
