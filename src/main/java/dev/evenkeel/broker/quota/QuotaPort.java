package dev.evenkeel.broker.quota;

import dev.evenkeel.bus.rate.Reservation;
import dev.evenkeel.bus.rate.ReserveRequest;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import io.vertx.core.Future;
import org.jspecify.annotations.Nullable;

/** What the quotas of a node need from it. All on one context. */
public interface QuotaPort {
  /** The quota as this node knows it. */
  @Nullable Quota quota(QuotaKind kind, String name);

  /** The same. */
  default @Nullable Quota quota(Quota.Key key) {
    return quota(key.kind(), key.name());
  }

  /** Asks the coordinator of rates. Fails within about half a second if it does not answer. */
  Future<Reservation> reserve(ReserveRequest request);

  /** A monotonic clock. */
  long nanos();

  /** Runs a task after that time, or a little later. */
  void after(long nanos, Runnable task);
}
