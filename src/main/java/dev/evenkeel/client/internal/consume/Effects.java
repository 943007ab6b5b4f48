package dev.evenkeel.client.internal.consume;

import dev.evenkeel.client.MessageContext;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;

/** The messages that one attempt at a message publishes, and the state after it. */
public final class Effects {
  /**
   * Sequences leave this many bits for the messages that one input publishes; they count from 1.
   */
  private static final int INDEX_BITS = 16;

  private static final int BUILDER_BYTES = 512;

  private final Map<Shard, BatchBuilder> outputs = new LinkedHashMap<>();
  private long bytes;

  /** The state of the shard after the message, or null if the handler gave none. */
  private byte[] state;

  /**
   * @throws RefusedException TOO_LARGE
   */
  public void publish(Shard to, Message message) {
    message.checkLimits();
    BatchBuilder builder = outputs.get(to);
    bytes += BatchBuilder.sizeOf(message);
    boolean fits =
        builder == null
            || builder.count() < Limits.OUTPUTS_OF_A_MESSAGE_MAX
                && builder.fits(message, Limits.BATCH_BYTES_MAX);
    if (!fits || bytes > MessageContext.OUTPUT_BYTES_MAX) {
      throw new RefusedException(
          Refusal.TOO_LARGE,
          "for one message a handler may publish %d messages and %d bytes to a shard, %d bytes in"
              + " all",
          Limits.OUTPUTS_OF_A_MESSAGE_MAX,
          Limits.BATCH_BYTES_MAX,
          MessageContext.OUTPUT_BYTES_MAX);
    }
    if (builder == null) {
      builder = new BatchBuilder(BUILDER_BYTES);
      outputs.put(to, builder);
    }
    builder.add(message);
  }

  /**
   * @throws RefusedException TOO_LARGE
   */
  public void commit(byte[] newState) {
    if (newState.length > Limits.STATE_BYTES_MAX) {
      throw new RefusedException(
          Refusal.TOO_LARGE,
          "state of " + newState.length + " bytes: at most " + Limits.STATE_BYTES_MAX);
    }
    state = newState;
  }

  boolean publishes() {
    return !outputs.isEmpty();
  }

  byte[] state() {
    return state;
  }

  /** The sequence of the first message that the input at {@code offset} publishes to a shard. */
  static long sequence(long offset) {
    return offset << INDEX_BITS | 1;
  }

  /**
   * Gives one batch for each shard to {@code out}.
   *
   * @param producerId 0: the log does not detect repeats
   */
  void batches(long producerId, int epoch, long offset, BiConsumer<Shard, Batch> out) {
    outputs.forEach(
        (shard, builder) ->
            out.accept(
                shard, builder.build(producerId, epoch, producerId == 0 ? 0 : sequence(offset))));
  }
}
