package dev.evenkeel.bus.level;

import static dev.evenkeel.protocol.wire.Codec.BLOB;
import static dev.evenkeel.protocol.wire.Codec.I32;
import static dev.evenkeel.protocol.wire.Codec.I64;

import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Codec;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * The answer of a member to {@link SessionStart}: its progress. From now on it ignores earlier
 * sessions.
 *
 * @param checkpoint the checkpoint of the last {@link HandOut}, as it came; null if there was none,
 *     or if the member did not keep its messages
 * @param finished messages finished since it joined
 * @param held messages in its hand that have not ended, in the order that numbers them from 0 in
 *     the new session, without those that failed and were not reported
 * @param ended the latest messages that it finished and does not know to be committed, at most
 *     {@link #ENDED_MAX}
 * @param capacity most messages that it wants in hand; see {@link Report#capacity}
 */
public record SessionState(
    byte[] checkpoint, long finished, List<MessageId> held, List<MessageId> ended, int capacity) {

  /** Most messages of {@link #ended}. */
  public static final int ENDED_MAX = 100_000;

  private static final Codec<SessionState> CODEC =
      Codec.record(SessionState.class, BLOB, I64, MessageId.LIST, MessageId.LIST, I32);

  public Bytes encode() {
    Bytes out = new Bytes(256);
    CODEC.write(out, this);
    return out;
  }

  public static SessionState decode(ByteBuffer body) {
    return CODEC.decodeAll(body);
  }
}
