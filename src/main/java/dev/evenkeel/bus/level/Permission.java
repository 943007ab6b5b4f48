package dev.evenkeel.bus.level;

import static dev.evenkeel.protocol.wire.Codec.I64;

import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Codec;
import java.nio.ByteBuffer;

/**
 * Dealer to member, as the answer to {@link Report}. Other answers: FENCED (there is a later
 * session or term, or none: wait for {@link SessionStart}), NOT_LEADER (the dealer is not here any
 * more).
 *
 * @param number of the report that was taken
 * @param mayStartMillis for how long, from the sending of that report on, the member may start
 *     handlers: so long it is surely not set aside
 */
public record Permission(long number, long mayStartMillis) {

  private static final Codec<Permission> CODEC = Codec.record(Permission.class, I64, I64);

  public Bytes encode() {
    Bytes out = new Bytes(16);
    CODEC.write(out, this);
    return out;
  }

  public static Permission decode(ByteBuffer body) {
    return CODEC.decodeAll(body);
  }
}
