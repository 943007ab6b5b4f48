package dev.evenkeel.client.internal.member;

/**
 * Judges from the times at which an event loop was seen at work whether something blocks it. Call
 * {@link #look} every {@link #LOOK_MILLIS}. All times are monotonic and in milliseconds.
 */
final class BlockedLoop {
  static final long LOOK_MILLIS = 500;

  /** A loop that is blocked for this long causes a warning. */
  static final long WARN_MILLIS = 2_000;

  /** A member whose event loop is blocked for longer drops out of its group. */
  static final long KEPT_MILLIS_MAX = 300_000;

  /** If two looks are further apart, the whole program stood still. */
  private static final long STANDSTILL_MILLIS = 2 * LOOK_MILLIS;

  private final long heartbeatMillis;
  private long lookedMillis;
  private long standstillMillis;
  private long heartbeatAtMillis;
  private boolean warned;

  /**
   * @param warn whether to log the warning now
   * @param heartbeat whether a heartbeat is due that the event loop cannot send
   * @param blockedMillis how long it has been blocked
   */
  record Verdict(boolean warn, boolean heartbeat, long blockedMillis) {}

  BlockedLoop(long heartbeatMillis, long now) {
    this.heartbeatMillis = heartbeatMillis;
    lookedMillis = now;
    standstillMillis = now;
  }

  /**
   * @param workedMillis when the event loop was last seen at work
   */
  Verdict look(long now, long workedMillis) {
    if (now - lookedMillis > STANDSTILL_MILLIS) {
      standstillMillis = now;
    }
    lookedMillis = now;
    long blocked = now - Math.max(workedMillis, standstillMillis);
    boolean due =
        blocked >= heartbeatMillis
            && blocked <= KEPT_MILLIS_MAX
            && now - heartbeatAtMillis >= heartbeatMillis;
    if (due) {
      heartbeatAtMillis = now;
    }
    boolean warn = !warned && blocked >= WARN_MILLIS;
    warned |= warn;
    return new Verdict(warn, due, blocked);
  }
}
