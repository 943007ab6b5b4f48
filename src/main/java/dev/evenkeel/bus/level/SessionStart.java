package dev.evenkeel.bus.level;

import static dev.evenkeel.protocol.wire.Codec.BOOL;
import static dev.evenkeel.protocol.wire.Codec.I64;
import static dev.evenkeel.protocol.wire.Codec.TEXT;

import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Codec;
import java.nio.ByteBuffer;

/**
 * Dealer to member: begins a session. Answered by {@link SessionState}. One that comes again,
 * before any {@link HandOut} of its session, is answered with the same {@link SessionState} and
 * allows nothing anew.
 *
 * @param term of the group lease
 * @param session numbered by the dealer of this term; higher than any before it with this member
 * @param node where the dealer is: reports go to {@code Addresses.dealer(node)}
 * @param keep whether the member goes on with what it has in hand. False for one that was set aside
 *     or counts as new: it drops what was not begun, what it has begun ends without being told, and
 *     it counts from 0
 * @param mayStartMillis for how long, from its first answer on, the member may start handlers
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
