package dev.evenkeel.bus.level;

import static dev.evenkeel.protocol.wire.Codec.BLOB;
import static dev.evenkeel.protocol.wire.Codec.I32;
import static dev.evenkeel.protocol.wire.Codec.I64;

import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Codec;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Member to dealer, as the answer to {@link SessionStart}: where it stands. From now on it takes
 * nothing of earlier sessions.
 *
 * @param checkpoint what a dealer last told it of its place, as it came; null if none has, or if
 *     nothing was kept
 * @param finished messages finished since it joined
 * @param held messages dealt to it that have not ended, in an order that numbers them from 0 in the
 *     new session; those that failed and were not told are not among them
 * @param ended messages that it finished and does not know to be committed: at most {@link
 *     #ENDED_MAX}, the latest
 * @param capacity messages that it wants in hand at most; see {@link Report#capacity}
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
