package dev.evenkeel.dispatcher.core;

/**
 * Notices that the dispatcher itself stood still: a long collection of garbage, a stopped process.
 * The heartbeats of that time wait in its queues, perhaps behind the timer. So it must not judge
 * anybody's silence before it has read them.
 */
public final class StallGuard {
  /** A gap between two ticks from here on is a stall. Ticks are meant to be much closer. */
  public static final long STALL_MILLIS = 2_000;

  /** So long after a stall nobody is judged: enough to read what has waited. */
  public static final long GRACE_MILLIS = 500;

  private boolean any;
  private long lastMillis;
  private long judgeAtMillis = Long.MIN_VALUE;

  /** Whether a tick at {@code nowMillis} may be acted upon. */
  public boolean mayJudge(long nowMillis) {
    boolean stalled = any && nowMillis - lastMillis >= STALL_MILLIS;
    any = true;
    lastMillis = nowMillis;
    if (stalled) {
      judgeAtMillis = nowMillis + GRACE_MILLIS;
    }
    return nowMillis >= judgeAtMillis;
  }
}
