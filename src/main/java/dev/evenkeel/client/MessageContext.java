package dev.evenkeel.client;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.buffer.Buffer;

/**
 * What a {@link ContextHandler} can do with a message besides handling it. Nothing of it happens
 * before the handler's future has succeeded, and nothing if that fails. May be used from any thread
 * until then.
 */
public interface MessageContext {
  /** Most bytes that the handler of one message may publish: 4 MiB. */
  int OUTPUT_BYTES_MAX = 4 << 20;

  /**
   * Publishes a message when the handler is done. What handlers of a shard publish leaves in the
   * order of their inputs; the input is finished when the log has it. An input that comes again
   * publishes nothing twice, if its handler publishes the same to the same shards.
   *
   * <p>The shard is that of the key, as producers choose it; without a key, that of the input's
   * number modulo the topic's shards.
   *
   * @param key null: none
   * @throws RefusedException UNKNOWN_TOPIC; UNAVAILABLE if the topics are not known yet; TOO_LARGE
   *     for a message over its limits, for more than {@link Limits#OUTPUTS_OF_A_MESSAGE_MAX}
   *     messages or {@link Limits#BATCH_BYTES_MAX} bytes to one shard, or {@link #OUTPUT_BYTES_MAX}
   *     in all
   * @throws IllegalStateException if the handler has ended
   */
  void publish(String topic, String key, Buffer payload);

  /** As {@link #publish(String, String, Buffer)}, with headers and a timestamp of its own. */
  void publish(String topic, Message message);

  /**
   * Keeps the shard's state as it is with this message handled, in one record with the offset after
   * it. It is written with the next commit of progress; who has the shard next, after a crash, too,
   * begins with the last state written, at its offset. The last call of a handler counts.
   *
   * @param state at most {@link Limits#STATE_BYTES_MAX}; copied
   * @throws RefusedException TOO_LARGE; INVALID unless the delivery is effectively-once and the
   *     handler makes use of state
   * @throws IllegalStateException if the handler has ended
   */
  void commit(Buffer state);
}
