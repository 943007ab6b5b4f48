package dev.evenkeel.bus;

import dev.evenkeel.bus.rate.LocalQuotas;
import io.vertx.core.Vertx;

/**
 * What the broker of this node knows, for others on its Vert.x that cannot wait for an answer over
 * the event bus. While the broker runs, {@link LocalObjects} holds one. Safe for use from any
 * thread.
 */
public record LocalBroker(KnownIds ids, LocalQuotas quotas, LocalPauses pauses, LocalUsers users) {
  /** Null: no broker runs there. */
  public static LocalBroker of(Vertx vertx) {
    return LocalObjects.get(vertx, LocalBroker.class);
  }
}
