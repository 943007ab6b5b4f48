package dev.evenkeel.client.internal.session;

import dev.evenkeel.bus.Link;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An address at which a {@link RejoiningLink} listens, on the clustered Vert.x that it has at the
 * time.
 */
final class LinkListening implements Link.Listening {
  private static final Logger LOG = LoggerFactory.getLogger(LinkListening.class);

  private final String address;
  private final Function<Buffer, Future<Buffer>> server;
  private final Context context;
  private final Consumer<LinkListening> onEnd;
  private final Promise<Void> registered = Promise.promise();
  private MessageConsumer<Object> consumer;
  private boolean ended;

  /**
   * @param server gives the answer, or null if what comes is not answered
   * @param context of the application's Vert.x, on which the server runs
   */
  LinkListening(
      String address,
      Function<Buffer, Future<Buffer>> server,
      Context context,
      Consumer<LinkListening> onEnd) {
    this.address = address;
    this.server = server;
    this.context = context;
    this.onEnd = onEnd;
  }

  /** Registers with a clustered Vert.x. A registration with a former one went with that. */
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
                  Context bus = Vertx.currentContext();
                  context.runOnContext(none -> answer(message, buffer, bus));
                });
    return consumer.completion().onSuccess(none -> registered.tryComplete());
  }

  /**
   * Answers a request, on the application's context.
   *
   * @param bus the context that the request came on: the answer goes out from there
   */
  private void answer(Message<Object> message, Buffer body, Context bus) {
    Future<Buffer> answered = server.apply(body);
    if (answered == null) {
      return;
    }
    answered.onSuccess(
        answer -> {
          try {
            bus.runOnContext(none -> message.reply(answer));
          } catch (RejectedExecutionException e) {
            // Its Vert.x was closed, so the sender has lost us, too.
            LOG.debug("an answer came after its Vert.x was closed", e);
          }
        });
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
      try {
        consumer.unregister();
      } catch (RejectedExecutionException e) {
        // The clustered Vert.x is gone, because no cluster is in sight, and its registrations with
        // it.
        LOG.debug("nothing is registered at {} any more", address, e);
      }
    }
  }
}
