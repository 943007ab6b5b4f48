package dev.evenkeel.client;

import dev.evenkeel.bus.Link;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.MessageConsumer;
import java.util.function.Consumer;

/** An address that a {@link RejoiningLink} listens at, on whichever clustered Vert.x it has now. */
final class LinkListening implements Link.Listening {
  private final String address;
  private final Consumer<Buffer> handler;
  private final Context context;
  private final Consumer<LinkListening> onEnd;
  private final Promise<Void> registered = Promise.promise();
  private MessageConsumer<Object> consumer;
  private boolean ended;

  /**
   * @param context of the application's Vert.x, on which the handler runs
   */
  LinkListening(
      String address, Consumer<Buffer> handler, Context context, Consumer<LinkListening> onEnd) {
    this.address = address;
    this.handler = handler;
    this.context = context;
    this.onEnd = onEnd;
  }

  /** Registers with a clustered Vert.x; what it had on a former one went with that. */
  synchronized Future<Void> registerWith(Vertx clustered) {
    if (ended) {
      return Future.succeededFuture();
    }
    consumer =
        clustered
            .eventBus()
            .consumer(
                address,
                message -> {
                  Object body = message.body();
                  Buffer buffer =
                      body instanceof Buffer same ? same : Buffer.buffer(String.valueOf(body));
                  context.runOnContext(none -> handler.accept(buffer));
                });
    return consumer.completion().onSuccess(none -> registered.tryComplete());
  }

  @Override
  public Future<Void> registered() {
    return registered.future();
  }

  @Override
  public synchronized void end() {
    if (ended) {
      return;
    }
    ended = true;
    onEnd.accept(this);
    if (consumer != null) {
      consumer.unregister();
    }
  }
}
