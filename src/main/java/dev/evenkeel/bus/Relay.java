package dev.evenkeel.bus;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;

/**
 * Passes requests on to members by way of the node at which they listen. The address of a node is
 * known from the member list. The address of a member is in a shared map, and after the loss of a
 * node nobody can read that part of the map for seconds.
 */
public final class Relay {
  /** Header: the address of the member. */
  private static final String TO = "to";

  /** Header: for how long the one who asks waits, in milliseconds. */
  private static final String MILLIS = "millis";

  private static final String MEMBER = "evenkeel.member.";

  private Relay() {}

  /** Asks a member that listens at {@code node}. Fails as {@link Link#request} says. */
  public static Future<Buffer> ask(
      Vertx vertx, String node, String address, Buffer body, long timeoutMillis) {
    DeliveryOptions options =
        FrameCodec.options(body, timeoutMillis)
            .addHeader(TO, address)
            .addHeader(MILLIS, String.valueOf(timeoutMillis));
    return VertxLink.send(vertx, Addresses.relay(node), address, body, options);
  }

  /** Serves requests to members that listen at this node. */
  public static MessageConsumer<Object> serve(Vertx vertx, String node) {
    return vertx.eventBus().consumer(Addresses.relay(node), message -> pass(vertx, message));
  }

  private static void pass(Vertx vertx, Message<Object> message) {
    String address = message.headers().get(TO);
    if (address == null || !address.startsWith(MEMBER)) {
      message.reply(new ReplyException(ReplyFailure.NO_HANDLERS, "no member has this address"));
      return;
    }
    Buffer body = VertxLink.buffer(message.body());
    DeliveryOptions options =
        FrameCodec.options(body, Long.parseLong(message.headers().get(MILLIS))).setLocalOnly(true);
    vertx
        .eventBus()
        .<Object>request(address, body, options)
        .onComplete(
            answered -> {
              if (answered.succeeded()) {
                Buffer answer = VertxLink.buffer(answered.result().body());
                message.reply(answer, FrameCodec.options(answer));
              } else if (answered.cause() instanceof ReplyException failure) {
                message.reply(failure);
              }
            });
  }
}
