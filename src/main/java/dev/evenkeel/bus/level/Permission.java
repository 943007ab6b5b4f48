package dev.evenkeel.bus.level;

import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
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

  public Bytes encode() {
    return new Bytes(16).i64(number).i64(mayStartMillis);
  }

  public static Permission decode(ByteBuffer body) {
    ByteReader in = new ByteReader(body);
    Permission permission = new Permission(in.i64(), in.i64());
    in.end();
    return permission;
  }
}
