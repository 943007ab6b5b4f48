package dev.evenkeel.bus.rate;

import static dev.evenkeel.protocol.wire.Codec.I32;
import static dev.evenkeel.protocol.wire.Codec.I64;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.wire.Codec;
import dev.evenkeel.protocol.wire.RecordCodec;
import java.nio.ByteBuffer;

/**
 * Asks the coordinator of rates for time. The answer is a {@link Reservation}.
 *
 * @param bytes to be spent, 0 or more
 * @param messages to be spent, 0 or more; 0 of both asks how things are
 * @param waitMillisMax grant nothing that starts later than after this time
 * @param stated what the group's rate shall be from now on, for kind GROUP_RATE; null: as it is
 */
public record ReserveRequest(
    Quota.Key key, long bytes, long messages, int waitMillisMax, Quota stated) {
  private static final Codec<Quota.Key> KEY =
      Codec.record(Quota.Key.class, Codec.constant(QuotaKind.class), Codec.NEEDED_TEXT);
  public static final Codec<ReserveRequest> CODEC =
      Codec.record(ReserveRequest.class, KEY, I64, I64, I32, Codec.nullable(RecordCodec.QUOTA));

  /** Most bytes, and most messages, of one request. */
  public static final long AMOUNT_MAX = 1L << 32;

  /** Waits for as long as it takes. */
  public static final int ANY_WAIT = Integer.MAX_VALUE;

  /**
   * @throws dev.evenkeel.protocol.RefusedException INVALID
   */
  public static ReserveRequest decode(ByteBuffer body) {
    ReserveRequest read = CODEC.decodeAll(body);
    QuotaKind kind = read.key.kind();
    if (read.key.name().length() > Limits.NAME_CHARS_MAX
        || read.bytes < 0
        || read.bytes > AMOUNT_MAX
        || read.messages < 0
        || read.messages > AMOUNT_MAX
        || read.waitMillisMax < 0) {
      throw Refusal.INVALID.error(
          "a reservation of %s bytes and %s messages within %s ms for %s: out of bounds",
          read.bytes, read.messages, read.waitMillisMax, kind.word());
    }
    if (read.stated != null
        && (kind != QuotaKind.GROUP_RATE
            || read.stated.isNone()
            || !read.stated.check().key().equals(read.key))) {
      throw Refusal.INVALID.error("a stated rate of %s for %s", read.stated.key(), read.key);
    }
    return read;
  }
}
