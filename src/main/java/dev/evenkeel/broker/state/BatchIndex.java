package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.Shard;
import dev.evenkeel.storage.Store;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Finds batches of a shard in the store by their {@link IndexEntry}. */
public final class BatchIndex {
  private BatchIndex() {}

  /** The batch that holds {@code offset} or, if none does, the last one before it. */
  public static @Nullable IndexEntry at(Store store, Shard shard, long offset) {
    byte[] from = Keys.batch(shard, 0);
    byte[] to = Keys.batch(shard, offset + 1);
    try (Store.Cursor cursor = store.scanBackward(Store.Table.INDEX, from, to)) {
      return cursor.next() ? IndexEntry.decode(cursor.key(), cursor.value()) : null;
    }
  }

  /** The position of the batch that holds {@code offset}, in bytes ever appended to the shard. */
  public static long position(Store store, Shard shard, ShardRecord record, long offset) {
    if (offset >= record.end()) {
      return record.endPosition();
    }
    IndexEntry entry = offset <= record.start() ? null : at(store, shard, offset);
    return entry == null ? record.endPosition() - record.bytes() : entry.position();
  }

  /**
   * The first batch for which {@code wanted} holds. Binary search: it must hold for all batches
   * behind one for which it holds.
   */
  public static @Nullable IndexEntry first(
      Store store, Shard shard, ShardRecord record, Predicate<IndexEntry> wanted) {
    long low = record.start();
    long high = record.end();
    IndexEntry found = null;
    while (low < high) {
      IndexEntry middle = at(store, shard, low + (high - low) / 2);
      if (middle == null || middle.end() <= low) {
        return found;
      }
      if (wanted.test(middle)) {
        found = middle;
        high = middle.base();
      } else {
        low = middle.end();
      }
    }
    return found;
  }
}
