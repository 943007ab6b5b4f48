package dev.evenkeel.client.internal.session;

/**
 * Judges from what a connection sent and received whether it needs a PING, and whether its peer
 * counts as gone. Call {@link #tick} often. All times are monotonic and in milliseconds.
 */
final class KeepAlive {
  enum Verdict {
    GOOD,
    /** Send a PING. */
    PING,
    /** Close the connection. */
    GONE
  }

  /** After this many requests in a row without an answer, it asks whether the peer is there. */
  static final int UNANSWERED_MAX = 3;

  /** How long the peer may take to answer that. */
  static final long PROBE_MILLIS_MAX = 1_000;

  /** A peer that was silent for this many keep-alive times counts as gone. */
  static final int SILENT_TIMES_MAX = 3;

  /**
   * If two ticks are further apart, this program stood still. What the peer sent meanwhile is not
   * read yet, so this time says nothing about the peer.
   */
  private static final long STANDSTILL_MILLIS = 1_000;

  private static final long NEVER = Long.MAX_VALUE;

  private final long keepAliveMillis;
  private long lastTick;
  private long lastSent;
  private long lastReceived;
  private int unanswered;

  /** When a probe without an answer has failed. */
  private long probeUntil = NEVER;

  /**
   * @param keepAliveMillis something must be sent at least this often
   */
  KeepAlive(long keepAliveMillis, long now) {
    this.keepAliveMillis = keepAliveMillis;
    lastTick = now;
    lastSent = now;
    lastReceived = now;
  }

  /** Whether this program stood still since the last tick. */
  boolean stoodStill(long now) {
    return now - lastTick > STANDSTILL_MILLIS;
  }

  /**
   * @param sent whether something was sent since the last tick
   * @param received whether something was received since then
   * @param timedOut requests whose time has passed since then without an answer
   */
  Verdict tick(long now, boolean sent, boolean received, int timedOut) {
    if (stoodStill(now)) {
      long passed = now - lastTick;
      lastReceived += passed;
      probeUntil = probeUntil == NEVER ? NEVER : probeUntil + passed;
    }
    lastTick = now;
    if (sent) {
      lastSent = now;
    }
    if (received) {
      lastReceived = now;
      unanswered = 0;
      probeUntil = NEVER;
    } else {
      unanswered += timedOut;
    }
    if (now - lastReceived >= SILENT_TIMES_MAX * keepAliveMillis || now >= probeUntil) {
      return Verdict.GONE;
    }
    boolean probe = probeUntil == NEVER && unanswered >= UNANSWERED_MAX;
    if (probe) {
      probeUntil = now + PROBE_MILLIS_MAX;
    }
    if (probe || now - lastSent >= keepAliveMillis) {
      lastSent = now;
      return Verdict.PING;
    }
    return Verdict.GOOD;
  }
}
