package dev.evenkeel.client.internal.produce.core;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;

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
            batch.refused.refusal(), text + ", at last because: " + batch.refused.words())
        : new RefusedException(Refusal.INDETERMINATE, text + "; it may be in the log all the same");
  }

  /** What is told of a batch that the log does not take. */
  static RefusedException refused(OutBatch<?> batch, Refusal refusal, String detail) {
    String text = detail;
    if (text == null && batch.dueMillis != DueTime.NOW) {
      // The log's answer has no words.
      if (refusal == Refusal.TOO_LARGE) {
        text =
            "shard "
                + batch.shard.shard()
                + " has no room for more delayed messages: at most "
                + Limits.DELAYED_MESSAGES_MAX
                + ", or "
                + Limits.DELAYED_BYTES_MAX
                + " bytes of them, may wait";
      } else if (refusal == Refusal.INVALID) {
        text = "a delay of more than 30 days by the broker's clock";
      }
    }
    return new RefusedException(refusal, text == null ? refusal.usualWords() : text);
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
