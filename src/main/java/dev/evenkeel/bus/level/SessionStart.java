package dev.evenkeel.bus.level;

import static dev.evenkeel.protocol.wire.Codec.BOOL;
import static dev.evenkeel.protocol.wire.Codec.I64;
import static dev.evenkeel.protocol.wire.Codec.TEXT;

import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Codec;
import java.nio.ByteBuffer;

/**
 * The level dispatcher begins a session with a member, which answers with a {@link SessionState}.
 * If it comes again before any {@link HandOut} of the session, the member gives the same answer,
 * and its permission does not begin anew.
 *
 * @param term of the group lease
 * @param session number of the session, higher than all before it of this member in this term
 * @param node node of the level dispatcher: reports go to {@code Addresses.levelDispatcher(node)}
 * @param keep whether the member keeps the messages in hand. False for a member that was set aside
 *     or counts as new: it drops the messages that it has not begun, does not report the others,
 *     and counts from 0
 * @param mayStartMillis for how long the member may start handlers, counted from its first answer
 */
public record SessionStart(
    String group, long term, long session, String node, boolean keep, long mayStartMillis) {

  private static final Codec<SessionStart> CODEC =
      Codec.record(SessionStart.class, TEXT, I64, I64, TEXT, BOOL, I64);

  public Bytes encode() {
    Bytes out = new Bytes(64);
    CODEC.write(out, this);
    return out;
  }

  public static SessionStart decode(ByteBuffer body) {
    return CODEC.decodeAll(body);
  }
}
