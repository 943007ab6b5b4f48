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

  SpoolingProducer.Receipt receipt() {
    return new SpoolingProducer.Receipt(
        spooled.future(), acknowledged == null ? Future.succeededFuture() : acknowledged.future());
  }
}
