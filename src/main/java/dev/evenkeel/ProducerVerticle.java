package dev.evenkeel;

import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.internal.Producers;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;

/**
 * Sends every message that arrives at an event-bus address to a topic. It can be deployed by name:
 *
 * <pre>{@code
 * vertx.deployVerticle(
 *     "dev.evenkeel.ProducerVerticle",
 *     new DeploymentOptions().setConfig(
 *         new JsonObject().put("topic", "orders").put("address", "orders.in")));
 * }</pre>
 *
 * <p>Configuration: {@code address} (required), and the keys of {@link ProducerOptions}, of which
 * {@code topic} is required. Any other key is refused.
 *
 * <p>The body of a request is a {@link JsonObject} with {@code payload} (text) or {@code
 * payloadBase64} (bytes), optionally with {@code key} (text), and with {@code deliverAfterMs} if
 * the message is delayed. When the message is acknowledged, the answer is {@code {"shard": n,
 * "offset": n}}; the offset of a delayed message is null.
 *
 * <p>If the message fails, the request fails as at the {@code evenkeel.api} addresses: the code is
 * 1 + the ordinal of the {@link Refusal}, or -1 for a bug, and the text is {@code REFUSAL: what was
 * wrong}. The event bus gives up a request after 30 s unless told otherwise, which is less than the
 * default delivery timeout of 2 minutes.
 *
 * <p>The verticle uses the connection that {@link dev.evenkeel.bus.LocalObjects} has for its
 * Vert.x. If there is none, it makes one on this Vert.x, which then must be clustered by Hazelcast.
 */
public class ProducerVerticle extends VerticleBase {
  private static final int INTERNAL_ERROR = -1;

  private VerticleConnection connection;
  private Producer producer;
  private MessageConsumer<JsonObject> consumer;

  /**
   * Starts the producer and listens at the address. Fails with {@link RefusedException}: INVALID
   * for a bad configuration, and as {@code EvenkeelClient.producer} does.
   */
  @Override
  public Future<?> start() {
    JsonObject given = config().copy();
    String address = (String) given.remove("address");
    if (address == null || address.isEmpty()) {
      return Future.failedFuture(
          new RefusedException(Refusal.INVALID, "the configuration needs an 'address'"));
    }
    ProducerOptions options = new ProducerOptions(given);
    connection = new VerticleConnection(vertx);
    return connection
        .link()
        .compose(link -> Producers.start(link, connection.directory(link), options))
        .compose(
            started -> {
              producer = started;
              consumer = vertx.eventBus().consumer(address, this::received);
              return consumer.completion();
            });
  }

  private void received(io.vertx.core.eventbus.Message<JsonObject> received) {
    Message message;
    Duration deliverAfter;
    try {
      message = message(received.body());
      deliverAfter = deliverAfter(received.body());
    } catch (RefusedException refused) {
      fail(received, refused);
      return;
    }
    producer
        .send(message, deliverAfter)
        .onSuccess(position -> received.reply(json(position, deliverAfter)))
        .onFailure(failure -> fail(received, failure));
  }

  private static void fail(io.vertx.core.eventbus.Message<?> received, Throwable failure) {
    received.fail(
        failure instanceof RefusedException refused
            ? 1 + refused.refusal().ordinal()
            : INTERNAL_ERROR,
        failure.toString());
  }

  /** A delayed message has no offset yet. */
  private static JsonObject json(Producer.Position position, Duration deliverAfter) {
    JsonObject json = new JsonObject().put("shard", position.shard());
    boolean none = position.offset() < 0 && !deliverAfter.isZero();
    json.put("offset", none ? null : (Long) position.offset());
    return position.isDelayed() ? json.put("delayedId", position.delayedId()) : json;
  }

  private static Duration deliverAfter(JsonObject body) {
    Object value = body.getValue("deliverAfterMs");
    if (value == null) {
      return Duration.ZERO;
    }
    if (!(value instanceof Number millis) || millis.longValue() < 0) {
      throw new RefusedException(
          Refusal.INVALID, "deliverAfterMs is " + value + ": use milliseconds, 0 or more");
    }
    return Duration.ofMillis(millis.longValue());
  }

  private static Message message(JsonObject body) {
    try {
      String key = body.getString("key");
      String text = body.getString("payload");
      String base64 = body.getString("payloadBase64");
      if ((text == null) == (base64 == null)) {
        throw new RefusedException(
            Refusal.INVALID, "a message has either 'payload' or 'payloadBase64'");
      }
      return Message.of(
          key,
          System.currentTimeMillis(),
          text != null
              ? text.getBytes(StandardCharsets.UTF_8)
              : Base64.getDecoder().decode(base64));
    } catch (ClassCastException | IllegalArgumentException e) {
      throw new RefusedException(
          Refusal.INVALID, "a message is {\"key\": text, \"payload\": text}: " + e.getMessage());
    }
  }

  /** Stops listening, then closes the producer, which flushes. */
  @Override
  public Future<?> stop() {
    Future<Void> end = consumer == null ? Future.succeededFuture() : consumer.unregister();
    return end.eventually(() -> producer == null ? Future.succeededFuture() : producer.close())
        .eventually(connection::close);
  }
}
