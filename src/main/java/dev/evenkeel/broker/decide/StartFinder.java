package dev.evenkeel.broker.decide;

import dev.evenkeel.broker.state.BatchIndex;
import dev.evenkeel.broker.state.IndexEntry;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.storage.Store;
import org.jspecify.annotations.Nullable;

/**
 * Turns a {@link StartAt} into an offset by the index alone: what is decided about a log entry must
 * not depend on bodies, which one replica may have lost. A time gives the beginning of a batch,
 * which is early but never too late. Whoever can read the batch finds the message first.
 */
public final class StartFinder {
  private StartFinder() {}

  /** An offset between the shard's start and end, both included. */
  public static long find(Store store, Shard shard, ShardRecord record, StartAt start) {
    return switch (start.kind()) {
      case EARLIEST -> record.start();
      case LATEST -> record.end();
      case OFFSET -> Math.max(record.start(), Math.min(start.value(), record.end()));
      case TIMESTAMP -> {
        IndexEntry entry = batchAt(store, shard, record, start.value());
        yield entry == null ? record.end() : entry.base();
      }
    };
  }

  /** The first batch with a message at or after {@code millis}. */
  public static @Nullable IndexEntry batchAt(
      Store store, Shard shard, ShardRecord record, long millis) {
    return BatchIndex.first(store, shard, record, each -> each.maxTimestamp() >= millis);
  }
}
