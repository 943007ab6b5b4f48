package dev.evenkeel.bus;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.RecordCodec;
import java.util.ArrayList;
import java.util.Collection;
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

  /** Whether the shard itself waits: for a message in its window, or for room to park. */
  public boolean shardWaits() {
    return held > 0
        || waiting + parked >= Limits.RETRIES_MAX
        || bytes > Limits.RETRY_BYTES_MAX - Limits.BATCH_BYTES_MAX;
  }

  public static void write(Bytes out, Collection<FailureFigures> figures) {
    out.i32(figures.size());
    for (FailureFigures each : figures) {
      out.text(each.group());
      RecordCodec.write(out, each.shard());
      out.i32(each.waiting()).i32(each.parked()).i32(each.held()).i32(each.dead());
      out.i64(each.bytes());
    }
  }

  public static List<FailureFigures> read(ByteReader in) {
    int count = in.count();
    List<FailureFigures> figures = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      figures.add(
          new FailureFigures(
              in.text(), RecordCodec.shard(in), in.i32(), in.i32(), in.i32(), in.i32(), in.i64()));
    }
    return figures;
  }
}
