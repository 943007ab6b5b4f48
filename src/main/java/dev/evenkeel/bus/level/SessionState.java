package dev.evenkeel.bus.level;

import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
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

  public Bytes encode() {
    Bytes out = new Bytes(256).blob(checkpoint).i64(finished);
    MessageId.write(out, held);
    MessageId.write(out, ended);
    return out.i32(capacity);
  }

  public static SessionState decode(ByteBuffer body) {
    ByteReader in = new ByteReader(body);
    SessionState place =
        new SessionState(in.blob(), in.i64(), MessageId.read(in), MessageId.read(in), in.i32());
    in.end();
    return place;
  }
}
