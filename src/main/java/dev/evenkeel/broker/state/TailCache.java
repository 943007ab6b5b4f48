package dev.evenkeel.broker.state;

import dev.evenkeel.log.EntryBody;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Batch;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * The last batches of a data log group, as views of the log entries that brought them: most
 * consumers read what was just written. The oldest batches are dropped first. One thread adds, any
 * thread may read.
 */
public final class TailCache {
  /**
   * @param baseOffset offset of the batch's first message
   * @param logIndex the log entry that has its bytes
   */
  public record Cached(long baseOffset, Batch batch, long logIndex) {
    public long endOffset() {
      return baseOffset + batch.count();
    }
  }

  private record Place(Shard shard, long baseOffset, int bytes) {}

  private final long bytesMax;
  private final Map<Shard, ConcurrentSkipListMap<Long, Cached>> shards = new ConcurrentHashMap<>();
  private final ArrayDeque<Place> oldestFirst = new ArrayDeque<>();
  private long bytes;

  /** The same number for other threads. */
  private volatile long shownBytes;

  /**
   * @param bytesMax bound on the bytes of all batches held; 0 holds none
   */
  public TailCache(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  void add(Shard shard, long baseOffset, Batch batch, long logIndex) {
    if (batch.length() > bytesMax) {
      return;
    }
    shards
        .computeIfAbsent(shard, any -> new ConcurrentSkipListMap<>())
        .put(baseOffset, new Cached(baseOffset, batch, logIndex));
    oldestFirst.add(new Place(shard, baseOffset, batch.length()));
    bytes += batch.length();
    while (bytes > bytesMax) {
      Place oldest = oldestFirst.remove();
      bytes -= oldest.bytes();
      ConcurrentSkipListMap<Long, Cached> of = shards.get(oldest.shard());
      if (of != null) {
        of.remove(oldest.baseOffset());
      }
    }
    shownBytes = bytes;
  }

  /**
   * Takes what an applied entry appended, as far as its body is in memory, and forgets the shards
   * it removed.
   */
  public void follow(List<Change> changes, long index, EntryBody body) {
    for (Change change : changes) {
      if (change instanceof Change.PutBatch put) {
        IndexEntry entry = put.entry();
        if (body.inMemory() && entry.place().index() == index) {
          Batch batch = new Batch(body.slice(entry.place().at(), entry.bytes()));
          add(put.shard(), entry.base(), batch, index);
        }
      } else if (change instanceof Change.RemoveShard removed) {
        shards.remove(removed.shard());
      }
    }
  }

  /**
   * Batches from the one that holds {@code offset} on, without a gap: at least one, more only while
   * they fit into {@code bytesMax} and {@code messagesMax}. Empty if that batch is not held here.
   *
   * @param end the shard's end as readers are shown it. Batches added above it are not shown yet:
   *     whoever got them would next ask for an offset that is out of range
   */
  public List<Cached> read(Shard shard, long offset, long end, int bytesMax, int messagesMax) {
    ConcurrentSkipListMap<Long, Cached> of = shards.get(shard);
    Map.Entry<Long, Cached> first = of == null ? null : of.floorEntry(offset);
    if (first == null || first.getValue().endOffset() <= offset) {
      return List.of();
    }
    List<Cached> found = new ArrayList<>();
    long sum = 0;
    long next = first.getKey();
    for (Cached each : of.tailMap(first.getKey()).values()) {
      sum += each.batch().length();
      if (each.baseOffset() != next
          || each.endOffset() > end
          || !found.isEmpty() && (sum > bytesMax || each.endOffset() - offset > messagesMax)) {
        break;
      }
      found.add(each);
      next = each.endOffset();
    }
    return found;
  }

  /** Forgets everything; on the thread that adds. */
  public void clear() {
    shards.clear();
    oldestFirst.clear();
    bytes = 0;
    shownBytes = 0;
  }

  /** Bytes held; from any thread. */
  public long bytes() {
    return shownBytes;
  }
}
