package dev.evenkeel.bus.rate;

import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.wire.Codec;
import dev.evenkeel.protocol.wire.RecordCodec;

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
  public static final Codec<Reservation> CODEC =
      Codec.record(Reservation.class, Codec.BOOL, Codec.I64, Codec.I64, RecordCodec.QUOTA);

  /** For what has no quota. */
  public static Reservation free(Quota.Key key) {
    return new Reservation(true, 0, 0, Quota.none(key.kind(), key.name()));
  }
}
