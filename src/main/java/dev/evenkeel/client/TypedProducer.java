package dev.evenkeel.client;

import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.Map;

/**
 * Sends objects; see {@link Serde#producer}. May be used from any thread.
 *
 * <p>A future fails as that of {@link Producer#send(Message)} does, and with INVALID if the object
 * has no payload.
 *
 * @param producer what sends the messages
 * @param serde gives their payloads
 * @param <T> type of the objects
 */
public record TypedProducer<T>(Producer producer, Serde<T> serde) {
  /** Sends an object without a key. */
  public Future<Producer.Position> send(T value) {
    return send(null, value);
  }

  /**
   * Sends an object.
   *
   * @param key text, sent as UTF-8; null for none
   */
  public Future<Producer.Position> send(String key, T value) {
    return send(key, value, Map.of());
  }

  /**
   * Sends an object with headers.
   *
   * @param headers names and texts, sent as UTF-8
   */
  public Future<Producer.Position> send(String key, T value, Map<String, String> headers) {
    return send(key, value, headers, Duration.ZERO);
  }

  /**
   * Sends an object that consumers get later; see {@link Producer#send(Message, Duration)}.
   *
   * @param deliverAfter the delay, at most 30 days; zero for none
   */
  public Future<Producer.Position> send(
      String key, T value, Map<String, String> headers, Duration deliverAfter) {
    Message.Builder message;
    try {
      message = Message.builder(serde.serialize(value)).key(key);
    } catch (Exception e) {
      return Future.failedFuture(
          Refusal.INVALID.error("the object cannot be made a payload: %s", e));
    }
    headers.forEach(message::header);
    return producer.send(message.build(), deliverAfter);
  }
}
