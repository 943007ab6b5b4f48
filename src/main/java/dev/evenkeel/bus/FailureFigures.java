package dev.evenkeel.bus;

import static dev.evenkeel.protocol.wire.Codec.I32;
import static dev.evenkeel.protocol.wire.Codec.I64;
import static dev.evenkeel.protocol.wire.Codec.TEXT;
import static dev.evenkeel.protocol.wire.RecordCodec.SHARD;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Codec;
import java.util.List;

/**
 * How much a group has of failures on a shard.
 *
 * @param waiting messages that wait for another attempt
 * @param parked messages that wait behind another of their key
 * @param held messages that wait for another attempt in the owner's window
 * @param dead dead letters
 * @param bytes of what waits and is parked
 */
public record FailureFigures(
    String group, Shard shard, int waiting, int parked, int held, int dead, long bytes) {

  public static final Codec<List<FailureFigures>> LIST =
      Codec.list(Codec.record(FailureFigures.class, TEXT, SHARD, I32, I32, I32, I32, I64));

  /** Whether the shard itself waits: for a message in its window, or for room to park. */
  public boolean shardWaits() {
    return held > 0
        || waiting + parked >= Limits.RETRIES_MAX
        || bytes > Limits.RETRY_BYTES_MAX - Limits.BATCH_BYTES_MAX;
  }
}
