package dev.evenkeel.bus.rate;

import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.wire.Codec;
import dev.evenkeel.protocol.wire.RecordCodec;
import java.util.List;

/**
 * A quota, and how much of it was used lately.
 *
 * @param bytesPerSecond granted in the last seconds
 * @param messagesPerSecond granted in the last seconds
 */
public record QuotaUse(Quota quota, long bytesPerSecond, long messagesPerSecond) {
  public static final Codec<List<QuotaUse>> LIST =
      Codec.list(Codec.record(QuotaUse.class, RecordCodec.QUOTA, Codec.I64, Codec.I64));
}
