package dev.evenkeel.producer;

import dev.evenkeel.model.Message;
import io.vertx.core.Future;
import io.vertx.core.streams.WriteStream;
import java.nio.charset.StandardCharsets;

/**
 * Sends messages to one topic. Messages are collected into batches, and acknowledged when a
 * majority of the shard's replicas has them on disk.
 *
 * <p>As a {@link WriteStream} it is full when its buffer is: {@link #write} then still takes the
 * message, as Vert.x streams do, up to a hard limit past which it is refused with OVERLOADED;
 * {@link #send} on a full buffer waits or fails, as {@link ProducerOptions#getOnFull()} says.
 */
public interface Producer extends WriteStream<Message> {

  /** Where a message is in the log. */
  record Position(int shard, long offset) {}

  /**
   * Sends a message. Completes once it is acknowledged. Fails with {@code RefusedException}:
   * TOO_LARGE, UNKNOWN_TOPIC, OVERLOADED (full, and onFull is FAIL or too many wait already),
   * PRODUCER_FENCED, or when the delivery deadline passed without an answer INDETERMINATE, or
   * UNAVAILABLE if it was never sent. The offset is -1 if the log has the message but does not
   * remember where.
   */
  Future<Position> send(Message message);

  /** Convenience: text key (or null) and payload, with the time of now. */
  default Future<Position> send(String key, byte[] payload) {
    return send(
        new Message(
            key == null ? null : key.getBytes(StandardCharsets.UTF_8),
            null,
            System.currentTimeMillis(),
            payload));
  }

  /** Completes when everything sent before is acknowledged or has failed. */
  Future<Void> flush();

  /** Messages taken and not yet acknowledged. */
  long pendingMessages();

  /** Flushes, then ends. */
  Future<Void> close();
}
