package dev.evenkeel.bus.rate;

import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.RecordCodec;
import java.nio.ByteBuffer;

/**
 * The coordinator's answer to a {@link ReserveRequest}. It has delays and no times, so clocks need
 * not agree.
 *
 * @param granted whether what was asked for may be spent
 * @param delayNanos when it may be spent or, if nothing was granted, when to ask again
 * @param paidNanos when all that was ever granted is paid for
 * @param quota as it is now; one that limits nothing if there is none
 */
public record Reservation(boolean granted, long delayNanos, long paidNanos, Quota quota) {
  /** For what has no quota. */
  public static Reservation free(Quota.Key key) {
    return new Reservation(true, 0, 0, Quota.none(key.kind(), key.name()));
  }

  public Bytes encode() {
    Bytes out = new Bytes(64).bool(granted).i64(delayNanos).i64(paidNanos);
    RecordCodec.QUOTA.write(out, quota);
    return out;
  }

  /**
   * @throws dev.evenkeel.protocol.RefusedException INVALID
   */
  public static Reservation decode(ByteBuffer body) {
    ByteReader in = new ByteReader(body);
    Reservation read = new Reservation(in.bool(), in.i64(), in.i64(), RecordCodec.QUOTA.read(in));
    in.end();
    return read;
  }
}
