package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.CORRUPT;
import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;
import static dev.evenkeel.protocol.Refusal.WRONG_VERSION;

import dev.evenkeel.broker.state.BatchIndex;
import dev.evenkeel.broker.state.IndexEntry;
import dev.evenkeel.broker.state.Keys;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.broker.state.TailCache.Cached;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.storage.DamagedStoreException;
import dev.evenkeel.storage.Store;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads batches that are no longer in memory, and checks each one: a damaged batch is never served.
 */
final class DiskReader {
  private static final Logger LOG = LoggerFactory.getLogger(DiskReader.class);

  private DiskReader() {}

  /**
   * Batches that were read.
   *
   * @param frame an answer with all of them, whose first {@link FetchService#HEAD_BYTES} are free
   * @param batches views of the frame, at least one
   */
  record Found(ByteBuffer frame, List<Cached> batches) {}

  /**
   * Batches from the one that holds {@code offset} on, as many as {@code TailCache.read} would
   * give. Waits for the disk.
   *
   * @throws RefusedException CORRUPT, naming topic, shard and offset, if the first of them is
   *     damaged or missing; OFFSET_OUT_OF_RANGE if retention took it meanwhile
   */
  static Found read(LogGroupServer group, Shard shard, long offset, int bytesMax, int messagesMax) {
    long end = group.shard(shard).end();
    Found found;
    try {
      found =
          group
              .state()
              .read(
                  store ->
                      read(group, shard, index(store, shard, offset, end, bytesMax, messagesMax)));
    } catch (UncheckedIOException e) {
      // The store has checksums of its own and notices missing files. It has reported the damage.
      DamagedStoreException damage = DamagedStoreException.in(e);
      if (damage == null) {
        throw UNAVAILABLE.error(e.getCause().getMessage());
      }
      throw refusal(place(group, shard, offset, damage.getMessage()));
    }
    if (found == null) {
      ShardRecord now = group.shard(shard);
      if (offset < now.start()) {
        throw FetchService.outOfRange(now);
      }
      throw corrupt(group, shard, offset, "no batch holds this offset");
    }
    return found;
  }

  /** The batches to read, without a gap. */
  private static List<IndexEntry> index(
      Store store, Shard shard, long offset, long end, int bytesMax, int messagesMax) {
    List<IndexEntry> found = new ArrayList<>();
    IndexEntry first = BatchIndex.at(store, shard, offset);
    if (first == null || first.end() <= offset) {
      return found;
    }
    byte[] from = Keys.batch(shard, first.base());
    byte[] to = Keys.batch(shard, end);
    long next = first.base();
    long sum = 0;
    try (Store.Cursor cursor = store.scan(Store.Table.INDEX, from, to)) {
      while (sum < bytesMax && next - offset < messagesMax && cursor.next()) {
        IndexEntry entry = IndexEntry.decode(cursor.key(), cursor.value());
        sum += entry.bytes();
        boolean more = sum > bytesMax || entry.end() - offset > messagesMax;
        if (entry.base() != next || !found.isEmpty() && more) {
          break;
        }
        found.add(entry);
        next = entry.end();
      }
    }
    return found;
  }

  /** Reads them into one buffer, each behind its offset; null if the first one is gone. */
  private static Found read(LogGroupServer group, Shard shard, List<IndexEntry> entries) {
    int bytes = FetchService.HEAD_BYTES;
    for (IndexEntry entry : entries) {
      bytes += FetchService.OFFSET_BYTES + entry.bytes();
    }
    ByteBuffer frame = ByteBuffer.allocate(bytes);
    List<ByteBuffer> slices = new ArrayList<>(entries.size());
    int at = FetchService.HEAD_BYTES;
    for (IndexEntry entry : entries) {
      frame.putLong(at, entry.base());
      slices.add(frame.slice(at + FetchService.OFFSET_BYTES, entry.bytes()));
      at += FetchService.OFFSET_BYTES + entry.bytes();
    }
    int there = group.state().read(entries, slices);
    List<Cached> found = new ArrayList<>(there);
    at = FetchService.HEAD_BYTES;
    for (int i = 0; i < entries.size(); i++) {
      ByteBuffer slice = i < there ? slices.get(i).flip() : null;
      Cached batch = checked(group, shard, entries.get(i).base(), slice, i == 0);
      if (batch == null) {
        break;
      }
      found.add(batch);
      at += FetchService.OFFSET_BYTES + entries.get(i).bytes();
    }
    return found.isEmpty() ? null : new Found(frame.limit(at), found);
  }

  /**
   * The batch, or null if it is gone, or damaged and not the first.
   *
   * @param bytes null if they are not there
   */
  private static Cached checked(
      LogGroupServer group, Shard shard, long offset, ByteBuffer bytes, boolean first) {
    try {
      if (bytes == null && offset < group.shard(shard).start()) {
        // Retention has dropped the batch since the index was read.
        return null;
      }
      if (bytes == null) {
        throw CORRUPT.error("the bytes of the batch are missing");
      }
      Batch batch = Batch.next(bytes);
      if (bytes.hasRemaining()) {
        throw CORRUPT.error("trailing bytes behind the batch");
      }
      return new Cached(offset, batch.verified());
    } catch (RefusedException damaged) {
      if (first && damaged.refusal() == WRONG_VERSION) {
        throw damaged;
      }
      if (first) {
        throw corrupt(group, shard, offset, damaged.getMessage());
      }
      return null;
    }
  }

  private static RefusedException corrupt(
      LogGroupServer group, Shard shard, long offset, String reason) {
    return corrupt(group, place(group, shard, offset, reason));
  }

  /** Reports a place that was found damaged, and returns the refusal to serve it. */
  static RefusedException corrupt(LogGroupServer group, String place) {
    group.state().damaged(place);
    return refusal(place);
  }

  private static String place(LogGroupServer group, Shard shard, long offset, String reason) {
    return group.nameOf(shard) + " offset " + offset + " on " + group.nodeId() + ": " + reason;
  }

  private static RefusedException refusal(String text) {
    LOG.error("damaged data is not served: {}", text);
    return CORRUPT.error(text);
  }
}
