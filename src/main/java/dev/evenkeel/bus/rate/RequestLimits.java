package dev.evenkeel.bus.rate;

import dev.evenkeel.protocol.RefusedException.QuotaReached;

/**
 * How much one request may hold, and when to send again, as quotas said when they refused one. A
 * batch that cannot be divided is sent alone, whatever it costs: the node saves for it as long as
 * it is sent again and again, see ADR 38.
 */
public final class RequestLimits {
  /** After this time without a refusal, more is sent at once again. */
  public static final long KEPT_MILLIS = 30_000;

  private long limitedMillis = Long.MIN_VALUE / 2;
  private long messagesMax = Long.MAX_VALUE;
  private long bytesMax = Long.MAX_VALUE;

  /**
   * A quota refused a request.
   *
   * @return how long to wait before it is sent again
   */
  public long refused(QuotaReached why, long nowMillis) {
    boolean tooLarge = why.messagesMax() != Long.MAX_VALUE || why.bytesMax() != Long.MAX_VALUE;
    if (tooLarge) {
      // Of several quotas, the lowest counts.
      boolean limited = isLimited(nowMillis);
      messagesMax = limited ? Math.min(messagesMax, why.messagesMax()) : why.messagesMax();
      bytesMax = limited ? Math.min(bytesMax, why.bytesMax()) : why.bytesMax();
      limitedMillis = nowMillis;
    }
    return why.pauseMillis();
  }

  /** Whether a quota refused a request lately because it was too large. */
  public boolean isLimited(long nowMillis) {
    return nowMillis - limitedMillis < KEPT_MILLIS;
  }

  /** Most messages of a request. */
  public long messagesMax(long nowMillis) {
    return isLimited(nowMillis) ? messagesMax : Long.MAX_VALUE;
  }

  /** Most bytes of a request. */
  public long bytesMax(long nowMillis) {
    return isLimited(nowMillis) ? bytesMax : Long.MAX_VALUE;
  }
}
