package dev.evenkeel.client.internal.consume;

/**
 * Stops a consumer from starting handlers when the cluster may have given it up. The dispatcher
 * counts a member as dead when the member timeout has passed since the arrival of a heartbeat,
 * which is never before its sending. So a member that stops one second earlier, counted from the
 * sending, has stopped before anybody else starts. Times are milliseconds of {@link ElapsedTime},
 * which also counts while the machine is suspended. Any thread may ask.
 */
public final class SelfFence {
  /** How long before the member timeout the consumer stops. */
  public static final long MARGIN_MILLIS = 1_000;

  private static final long NEVER = Long.MIN_VALUE;

  private final long reachMillis;
  private volatile long lastAnsweredSentMillis = NEVER;
  private volatile boolean linkUp = true;

  public SelfFence(long memberTimeoutMillis) {
    reachMillis = memberTimeoutMillis - MARGIN_MILLIS;
  }

  /** A heartbeat sent at {@code sentMillis} was answered. Answers may come out of order. */
  public void answered(long sentMillis) {
    lastAnsweredSentMillis = Math.max(lastAnsweredSentMillis, sentMillis);
  }

  public void link(boolean up) {
    linkUp = up;
  }

  public boolean linkUp() {
    return linkUp;
  }

  public boolean mayStart(long nowMillis) {
    long answered = lastAnsweredSentMillis;
    return linkUp && answered != NEVER && nowMillis - answered <= reachMillis;
  }
}
