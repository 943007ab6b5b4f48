package dev.evenkeel.client;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Turns objects into payloads and back.
 *
 * <pre>{@code
 * client.producer(options)
 *     .map(Serde.JSON::producer)
 *     .compose(orders -> orders.send("customer-7", new JsonObject().put("total", 12)));
 *
 * client.consumer(options, Serde.JSON.handler((order, delivery) -> bill(order)));
 * }</pre>
 *
 * <p>An implementation must be safe for use from any thread.
 *
 * @param <T> type of the objects
 */
public interface Serde<T> {
  /** Texts as UTF-8. Bytes that are not UTF-8 cannot be read. */
  Serde<String> TEXT =
      new Serde<>() {
        @Override
        public byte[] serialize(String value) {
          return value.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public String deserialize(byte[] payload) throws CharacterCodingException {
          return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(payload)).toString();
        }
      };

  /** JSON objects as their text in UTF-8. */
  Serde<JsonObject> JSON =
      new Serde<>() {
        @Override
        public byte[] serialize(JsonObject value) {
          return value.toBuffer().getBytes();
        }

        @Override
        public JsonObject deserialize(byte[] payload) {
          return new JsonObject(Buffer.buffer(payload));
        }
      };

  /** Bytes as they are, not copied. */
  Serde<byte[]> BYTES =
      new Serde<>() {
        @Override
        public byte[] serialize(byte[] value) {
          return value;
        }

        @Override
        public byte[] deserialize(byte[] payload) {
          return payload;
        }
      };

  /**
   * The payload of an object.
   *
   * @throws Exception if the object has none: then the message is not sent
   */
  byte[] serialize(T value) throws Exception;

  /**
   * The object of a payload.
   *
   * @throws Exception if the payload cannot be read: then the message fails, as it does when its
   *     handler throws
   */
  T deserialize(byte[] payload) throws Exception;

  /** A producer that sends objects. It shares what it is given, and need not be closed itself. */
  default TypedProducer<T> producer(Producer producer) {
    return new TypedProducer<>(producer, this);
  }

  /**
   * A consumer's handler that gets objects. A message whose payload cannot be read fails: it is
   * tried again, and becomes a dead letter, as the options of the consumer say.
   */
  default ConsumerHandler handler(TypedHandler<T> handler) {
    return delivery -> {
      T value;
      try {
        value = read(this, delivery);
      } catch (RefusedException e) {
        return Future.failedFuture(e);
      }
      return handler.handle(value, delivery);
    };
  }

  /** As {@link #handler}, for code that may block; see {@link BlockingHandler}. */
  default BlockingHandler blockingHandler(TypedHandler.Blocking<T> handler) {
    return delivery -> handler.run(read(this, delivery), delivery);
  }

  private static <T> T read(Serde<T> serde, Delivery delivery) {
    byte[] payload = delivery.message().payload();
    try {
      return serde.deserialize(payload);
    } catch (Exception e) {
      throw new RefusedException(
          Refusal.INVALID, "the payload of %d bytes cannot be read: %s", payload.length, e);
    }
  }
}
