package dev.evenkeel.protocol.wire;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.wire.Codec.BOOL;
import static dev.evenkeel.protocol.wire.Codec.I32;
import static dev.evenkeel.protocol.wire.Codec.I64;
import static dev.evenkeel.protocol.wire.Codec.NUMBERS;
import static dev.evenkeel.protocol.wire.Codec.TEXT;
import static dev.evenkeel.protocol.wire.RecordCodec.SHARD;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Shard;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Asks for the messages of a shard whose next attempt is due. It never waits.
 *
 * @param epoch of the lease
 * @param first whether the owner also asks for what it must know before it starts any handler
 * @param inHand offsets of retries that the owner has already; the answer leaves them out
 * @param messagesMax most messages in the answer, at most {@link #MESSAGES_MAX}; 0: none
 * @param bytesMax at least one message is sent, more only within this
 */
public record RetryRequest(
    String group,
    Shard shard,
    long epoch,
    boolean first,
    List<Long> inHand,
    int messagesMax,
    int bytesMax) {

  public static final int MESSAGES_MAX = 1_000;

  public static final Codec<RetryRequest> CODEC =
      Codec.record(RetryRequest.class, TEXT, SHARD, I64, BOOL, NUMBERS, I32, I32);

  /** The same, but only to learn what there is. */
  public RetryRequest withoutMessages() {
    return new RetryRequest(group, shard, epoch, first, inHand, 0, bytesMax);
  }

  public static RetryRequest decode(ByteBuffer body) {
    return CODEC.decodeAll(body).checked();
  }

  private RetryRequest checked() {
    if (group == null) {
      throw INVALID.error("a request for retries needs a group");
    }
    int messages = Math.max(0, Math.min(messagesMax, MESSAGES_MAX));
    int bytes = Math.max(1, Math.min(bytesMax, Limits.FETCH_BYTES_MAX));
    return new RetryRequest(group, shard, epoch, first, inHand, messages, bytes);
  }
}
