package dev.evenkeel.client.internal.produce.core;

import dev.evenkeel.bus.rate.RequestLimits;
import dev.evenkeel.protocol.RefusedException.QuotaReached;

/**
 * For how much longer messages may wait because quotas slow them down. A quota that lets messages
 * pass, or says when to come again, is no reason to give up, see {@code
 * ProducerOptions.setQuotaTimeoutMillis}.
 */
final class QuotaPace {
  /**
   * For this long after a refusal, a quota is taken to slow down what passes. As long as much
   * waits, there is another refusal within {@link RequestLimits#KEPT_MILLIS}.
   */
  static final long AT_WORK_MILLIS = 2 * RequestLimits.KEPT_MILLIS;

  private static final long NEVER = Long.MIN_VALUE / 2;

  private final long deliveryTimeoutMillis;

  /** By how much a deadline may move at most. */
  private final long extraMillisMax;

  final RequestLimits limits = new RequestLimits();

  private long refusedMillis = NEVER;

  /** No message is given up before, unless it has waited for too long in all. */
  private long patientUntilMillis = NEVER;

  /** Nothing waits for longer: the producer is being closed. */
  private long endMillis = Long.MAX_VALUE;

  QuotaPace(CoreSettings settings) {
    deliveryTimeoutMillis = settings.deliveryTimeoutMillis();
    extraMillisMax = Math.max(0, settings.quotaTimeoutMillis() - deliveryTimeoutMillis);
  }

  /**
   * A quota refused a request.
   *
   * @return how long to wait before it is sent again
   */
  long refused(QuotaReached why, long nowMillis) {
    refusedMillis = nowMillis;
    patientUntilMillis =
        Math.max(patientUntilMillis, nowMillis + why.retryAfterMillis() + deliveryTimeoutMillis);
    return limits.refused(why, nowMillis);
  }

  /** The log took a batch. */
  void passed(long nowMillis) {
    if (nowMillis - refusedMillis < Math.max(deliveryTimeoutMillis, AT_WORK_MILLIS)) {
      patientUntilMillis = Math.max(patientUntilMillis, nowMillis + deliveryTimeoutMillis);
    }
  }

  /** All that is left has the delivery timeout from now on, whatever quotas say. */
  void close(long nowMillis) {
    endMillis = Math.min(endMillis, nowMillis + deliveryTimeoutMillis);
  }

  /** Whether the time for what was left when it was closed is over. */
  boolean isOver(long nowMillis) {
    return nowMillis >= endMillis;
  }

  boolean isClosing() {
    return endMillis != Long.MAX_VALUE;
  }

  /**
   * When a batch is given up.
   *
   * @param deadlineMillis without quotas
   */
  long deadline(long deadlineMillis) {
    long deadline =
        patientUntilMillis <= deadlineMillis
            ? deadlineMillis
            : Math.min(patientUntilMillis, deadlineMillis + extraMillisMax);
    return Math.min(deadline, endMillis);
  }
}
