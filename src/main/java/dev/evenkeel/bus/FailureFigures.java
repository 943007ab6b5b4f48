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
 * How many messages of a shard failed in a group, by what becomes of them.
 *
 * @param waiting messages that wait for another attempt
 * @param parked messages that wait behind another of their key
 * @param held messages that wait in the owner's window for another attempt
 * @param dead dead letters
 * @param bytes size of the waiting and the parked messages
 */
public record FailureFigures(
    String group, Shard shard, int waiting, int parked, int held, int dead, long bytes) {

  public static final Codec<List<FailureFigures>> LIST =
      Codec.list(Codec.record(FailureFigures.class, TEXT, SHARD, I32, I32, I32, I32, I64));

  /** Whether the whole shard waits, for a message in the window or for room to park more. */
  public boolean shardWaits() {
    return held > 0
        || waiting + parked >= Limits.RETRIES_MAX
        || bytes > Limits.RETRY_BYTES_MAX - Limits.BATCH_BYTES_MAX;
  }
}
