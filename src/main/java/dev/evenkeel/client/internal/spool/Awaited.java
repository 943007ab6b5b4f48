package dev.evenkeel.client.internal.spool;

import dev.evenkeel.client.Producer;
import dev.evenkeel.client.SpoolingProducer;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Promise;

/**
 * What the sender of a message waits for.
 *
 * @param spooled completes when it is in the spool
 * @param acknowledged completes when it is in the log; null: nobody wants to know
 */
record Awaited(Promise<Void> spooled, Promise<Producer.Position> acknowledged) {
  void refuse(RefusedException why) {
    spooled.tryFail(why);
    if (acknowledged != null) {
      acknowledged.tryFail(why);
    }
  }

  /** The outcome as far as the sender wants to know it; a null position: it is in the spool. */
  Future<Producer.Position> ended() {
    return acknowledged == null ? spooled.future().mapEmpty() : acknowledged.future();
  }

  SpoolingProducer.Receipt receipt() {
    return new SpoolingProducer.Receipt(
        spooled.future(), acknowledged == null ? Future.succeededFuture() : acknowledged.future());
  }
}
