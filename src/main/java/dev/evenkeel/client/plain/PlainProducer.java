package dev.evenkeel.client.plain;

import dev.evenkeel.client.Producer;
import dev.evenkeel.client.Producer.Position;
import dev.evenkeel.protocol.Message;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** Sends messages to one topic, and waits until they are acknowledged; see {@link Producer}. */
public final class PlainProducer implements AutoCloseable {
  private final Producer producer;

  PlainProducer(Producer producer) {
    this.producer = producer;
  }

  /**
   * Sends a message, and waits until it is acknowledged; see {@link Producer#send(Message)}. One
   * message after another waits for the disk each time: for many messages, use {@link #sendAsync}
   * and then {@link #flush}.
   */
  public Position send(Message message) throws InterruptedException {
    return Await.on(producer.send(message));
  }

  /**
   * As {@link #send(Message)}, for a message without headers and with the current time.
   *
   * @param key text, sent as UTF-8; null for none
   */
  public Position send(String key, byte[] payload) throws InterruptedException {
    return Await.on(producer.send(key, payload));
  }

  /** Sends a message that consumers get later; see {@link Producer#send(Message, Duration)}. */
  public Position send(Message message, Duration deliverAfter) throws InterruptedException {
    return Await.on(producer.send(message, deliverAfter));
  }

  /** Sends a message, and does not wait. The stage completes as {@link Producer#send} says. */
  public CompletionStage<Position> sendAsync(Message message) {
    return producer.send(message).toCompletionStage();
  }

  /** Waits until all that was sent before is acknowledged or has failed. */
  public void flush() throws InterruptedException {
    Await.on(producer.flush());
  }

  /** Flushes, and ends the producer; see {@link Producer#close}. */
  @Override
  public void close() {
    Await.onClose(producer.close());
  }
}
