package dev.evenkeel.client;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.buffer.Buffer;

/**
 * What a {@link ContextHandler} can do besides handling a message: publish other messages, and
 * commit the state of the shard. Both happen when the handler's future has succeeded, and not at
 * all if it fails. May be used from any thread until the handler's future completes.
 */
public interface MessageContext {
  /** Most bytes that the handler of one message may publish: 4 MiB. */
  int OUTPUT_BYTES_MAX = 4 << 20;

  /**
   * Publishes a message when the handler has succeeded. What the handlers of a shard publish is
   * sent in the order of their inputs, and an input is finished when the log has what it published.
   * If an input comes again, nothing is published twice, as long as its handler publishes the same
   * to the same shards.
   *
   * <p>A message with a key goes to the shard that producers choose for this key. A message without
   * a key goes to the shard with the number of the input's shard, modulo the topic's shards.
   *
   * @param topic name of the topic
   * @param key null for none
   * @param payload copied
   * @throws RefusedException UNKNOWN_TOPIC; UNAVAILABLE as long as it is not certain that there is
   *     no such topic, and a handler that fails with it gets the message again, without another
   *     attempt counted; TOO_LARGE for a message over its limits, for more than {@link
   *     Limits#OUTPUTS_OF_A_MESSAGE_MAX} messages or {@link Limits#BATCH_BYTES_MAX} bytes to one
   *     shard, or {@link #OUTPUT_BYTES_MAX} in all
   * @throws IllegalStateException if the handler's future has completed
   */
  void publish(String topic, String key, Buffer payload);

  /** As {@link #publish(String, String, Buffer)}, with headers and the message's own timestamp. */
  void publish(String topic, Message message);

  /**
   * Sets the state of the shard after this message. The log stores it together with the offset
   * after this message, with the next commit of progress. The next owner of the shard, also after a
   * crash, begins with the last stored state, at its offset. If a handler calls this several times,
   * the last call counts.
   *
   * @param state at most {@link Limits#STATE_BYTES_MAX}; copied
   * @throws RefusedException TOO_LARGE; INVALID unless the delivery is EFFECTIVELY_ONCE and the
   *     handler overrides {@link ConsumerHandler#onAssign}
   * @throws IllegalStateException if the handler's future has completed
   */
  void commit(Buffer state);
}
