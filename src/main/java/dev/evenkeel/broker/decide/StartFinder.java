package dev.evenkeel.broker.decide;

import dev.evenkeel.broker.state.BatchIndex;
import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.broker.state.IndexEntry;
import dev.evenkeel.broker.state.Keys;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchReader;
import dev.evenkeel.storage.Store;
import java.nio.ByteBuffer;

/** Turns a {@link StartAt} into an offset. Reads the store. */
public final class StartFinder {
  private StartFinder() {}

  /**
   * An offset between the shard's start and end, both included. It does not unpack batches, so that
   * all nodes come to the same offset: a time in a compressed batch counts from its beginning.
   */
  public static long find(Store store, DataTables tables, Shard shard, StartAt start) {
    return find(store, tables, shard, start, false);
  }

  /** As {@link #find}, but unpacks the batch that holds the time. */
  public static long findUnpacked(Store store, DataTables tables, Shard shard, StartAt start) {
    return find(store, tables, shard, start, true);
  }

  private static long find(
      Store store, DataTables tables, Shard shard, StartAt start, boolean unpacks) {
    ShardRecord record = tables.shard(shard);
    return switch (start.kind()) {
      case EARLIEST -> record.start();
      case LATEST -> record.end();
      case OFFSET -> Math.max(record.start(), Math.min(start.value(), record.end()));
      case TIMESTAMP -> byTimestamp(store, shard, record, start.value(), unpacks);
    };
  }

  private static long byTimestamp(
      Store store, Shard shard, ShardRecord record, long millis, boolean unpacks) {
    IndexEntry entry =
        BatchIndex.first(store, shard, record, each -> each.maxTimestamp() >= millis);
    if (entry == null) {
      return record.end();
    }
    byte[] bytes = store.get(Store.Table.BATCHES, Keys.batch(shard, entry.base()));
    return bytes == null ? entry.base() : within(bytes, entry.base(), millis, unpacks);
  }

  /**
   * The first message at or after {@code millis}. Producers fill batches, and the log does not look
   * inside: one that cannot be read counts from its beginning, which is early but never too late.
   */
  private static long within(byte[] bytes, long base, long millis, boolean unpacks) {
    try {
      Batch batch = Batch.next(ByteBuffer.wrap(bytes));
      if (batch.isCompressed() && !unpacks) {
        return base;
      }
      BatchReader reader = batch.reader(base);
      while (reader.hasNext()) {
        long offset = reader.nextOffset();
        if (reader.next().timestampMillis() >= millis) {
          return offset;
        }
      }
      return base;
    } catch (RefusedException malformed) {
      return base;
    }
  }
}
