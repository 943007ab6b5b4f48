package dev.evenkeel.dispatcher.core;

/**
 * Notices that the dispatcher itself stood still, for example during a long garbage collection. The
 * heartbeats of that time wait in its queues, perhaps behind the timer. So the dispatcher must read
 * them before it gives up a silent member.
 */
public final class StallGuard {
  /** A gap between two ticks from here on is a stall. Ticks are meant to be much closer. */
  public static final long STALL_MILLIS = 2_000;

  /**
   * For this time after a stall, the dispatcher declares no member dead, so that it can first read
   * the heartbeats that waited.
   */
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
