package dev.evenkeel.producer.core;

import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;

/** When a batch is given up, and what its sender is told then. */
final class DeliveryLimits {
  private final CoreSettings settings;

  DeliveryLimits(CoreSettings settings) {
    this.settings = settings;
  }

  /** What is told of a batch whose time is over: never more than is known. */
  RefusedException tooLate(OutBatch<?> batch) {
    String text = "not acknowledged within " + settings.deliveryTimeoutMillis() + " ms";
    if (!batch.sentInEpoch() && !batch.unsure) {
      return new RefusedException(Refusal.UNAVAILABLE, text + "; it was never sent");
    }
    boolean surelyRefused =
        batch.state == OutBatch.State.WAITING && !batch.unsure && batch.refused != null;
    return surelyRefused
        ? new RefusedException(
            batch.refused.refusal(), text + ", at last because: " + batch.refused.getMessage())
        : new RefusedException(Refusal.INDETERMINATE, text + "; it may be in the log all the same");
  }

  /** Whether a batch that is surely not in the log has met a full disk for too long. */
  boolean diskTooLongFull(OutBatch<?> batch, long nowMillis) {
    if (batch.diskFullSinceMillis < 0) {
      batch.diskFullSinceMillis = nowMillis;
    }
    return !batch.unsure
        && nowMillis - batch.diskFullSinceMillis >= settings.diskFullTimeoutMillis();
  }
}
