package dev.evenkeel.bus.level;

import static dev.evenkeel.protocol.wire.Codec.I64;

import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Codec;
import java.nio.ByteBuffer;

/**
 * The answer of the level dispatcher to a {@link Report}: for how long the member may start
 * handlers. Other answers are FENCED (there is a later session or term, or none: wait for {@link
 * SessionStart}) and NOT_LEADER (the level dispatcher is no longer on this node).
 *
 * @param number number of the report
 * @param mayStartMillis for how long the member may start handlers, counted from the sending of the
 *     report: it is not set aside before
 */
public record StartPermission(long number, long mayStartMillis) {

  private static final Codec<StartPermission> CODEC = Codec.record(StartPermission.class, I64, I64);

  public Bytes encode() {
    Bytes out = new Bytes(16);
    CODEC.write(out, this);
    return out;
  }

  public static StartPermission decode(ByteBuffer body) {
    return CODEC.decodeAll(body);
  }
}
