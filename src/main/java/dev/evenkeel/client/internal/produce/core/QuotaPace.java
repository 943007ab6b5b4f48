package dev.evenkeel.client.internal.produce.core;

import dev.evenkeel.protocol.RefusedException.QuotaReached;

/**
 * What a producer knows of the quotas that slow it down: how much it may send at once, and for how
 * much longer its messages may wait. A quota that lets messages pass, or says when to come again,
 * is no reason to give up, see {@code ProducerOptions.setQuotaTimeoutMillis}.
 */
final class QuotaPace {
  /** After this time without a refusal, it tries again to send more at once. */
  static final long LIMITS_MILLIS = 30_000;

  /**
   * For this long after a refusal, a quota is taken to slow down what passes. As long as much
   * waits, there is another refusal within {@link #LIMITS_MILLIS}.
   */
  static final long AT_WORK_MILLIS = 2 * LIMITS_MILLIS;

  private static final long NEVER = Long.MIN_VALUE / 2;

  private final long deliveryTimeoutMillis;

  /** By how much a deadline may move at most. */
  private final long extraMillisMax;

  private long refusedMillis = NEVER;
  private long limitedMillis = NEVER;
  private long messagesMax = Long.MAX_VALUE;
  private long bytesMax = Long.MAX_VALUE;

  /** No message is given up before, unless it has waited for too long in all. */
  private long patientUntilMillis = NEVER;

  QuotaPace(CoreSettings settings) {
    deliveryTimeoutMillis = settings.deliveryTimeoutMillis();
    extraMillisMax = Math.max(0, settings.quotaTimeoutMillis() - deliveryTimeoutMillis);
  }

  /** A quota refused a request. */
  void refused(QuotaReached why, long nowMillis) {
    refusedMillis = nowMillis;
    patientUntilMillis =
        Math.max(patientUntilMillis, nowMillis + why.retryAfterMillis() + deliveryTimeoutMillis);
    boolean tooLarge = why.messagesMax() != Long.MAX_VALUE || why.bytesMax() != Long.MAX_VALUE;
    if (tooLarge) {
      // Of several quotas, the lowest counts.
      boolean limited = isLimited(nowMillis);
      messagesMax = limited ? Math.min(messagesMax, why.messagesMax()) : why.messagesMax();
      bytesMax = limited ? Math.min(bytesMax, why.bytesMax()) : why.bytesMax();
      limitedMillis = nowMillis;
    }
  }

  /** The log took a batch. */
  void passed(long nowMillis) {
    if (nowMillis - refusedMillis < Math.max(deliveryTimeoutMillis, AT_WORK_MILLIS)) {
      patientUntilMillis = Math.max(patientUntilMillis, nowMillis + deliveryTimeoutMillis);
    }
  }

  boolean isLimited(long nowMillis) {
    return nowMillis - limitedMillis < LIMITS_MILLIS;
  }

  /** Most messages of a request. */
  long messagesMax(long nowMillis) {
    return isLimited(nowMillis) ? messagesMax : Long.MAX_VALUE;
  }

  /** Most bytes of a request. */
  long bytesMax(long nowMillis) {
    return isLimited(nowMillis) ? bytesMax : Long.MAX_VALUE;
  }

  /**
   * When a batch is given up.
   *
   * @param deadlineMillis without quotas
   */
  long deadline(long deadlineMillis) {
    return patientUntilMillis <= deadlineMillis
        ? deadlineMillis
        : Math.min(patientUntilMillis, deadlineMillis + extraMillisMax);
  }
}
