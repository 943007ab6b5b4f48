package dev.evenkeel.broker.state;

import dev.evenkeel.log.EntryBody;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Batch;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The newest batches of a data log group: most consumers read what was just written. They are in
 * the {@link TailMemory} of the node. One thread adds, any thread may read.
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

  private final TailMemory memory;
  private final Map<Shard, ShardTail> shards = new ConcurrentHashMap<>();
  private final AtomicLong bytes = new AtomicLong();

  /**
   * @param memory of the node
   */
  public TailCache(TailMemory memory) {
    this.memory = memory;
  }

  /** Adds a batch behind the others of its shard; nothing if it is too large. */
  public void add(Shard shard, long baseOffset, ByteBuffer batch, long logIndex) {
    ShardTail tail = shards.get(shard);
    if (tail == null) {
      tail = new ShardTail(memory, this);
      shards.put(shard, tail);
    }
    memory.add(tail, baseOffset, logIndex, batch);
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
          ByteBuffer batch = body.slice(entry.place().at(), entry.bytes());
          add(put.shard(), entry.base(), batch, index);
        }
      } else if (change instanceof Change.RemoveShard removed) {
        forget(removed.shard());
      }
    }
  }

  private void forget(Shard shard) {
    ShardTail gone = shards.remove(shard);
    if (gone != null) {
      memory.forget(gone);
    }
  }

  /**
   * Batches from the one that holds {@code offset} on, without a gap: at least one, more only while
   * they fit into {@code bytesMax} and {@code messagesMax}. Empty if that batch is not held here.
   *
   * @param end the shard's end as readers are shown it. Batches added above it are not shown yet:
   *     whoever got them would next ask for an offset that is out of range
   */
  public TailRead read(Shard shard, long offset, long end, int bytesMax, int messagesMax) {
    return read(shard, offset, end, bytesMax, messagesMax, null);
  }

  /** The same, as much as a look takes. */
  public TailRead look(Shard shard, long offset, long end) {
    return read(shard, offset, end, LookBounds.BYTES, Integer.MAX_VALUE, new LookBounds());
  }

  private TailRead read(
      Shard shard,
      long offset,
      long end,
      int bytesMax,
      int messagesMax,
      @Nullable LookBounds look) {
    ShardTail tail = shards.get(shard);
    return tail == null ? TailRead.NONE : tail.read(offset, end, bytesMax, messagesMax, look);
  }

  /** Forgets everything; on the thread that adds. */
  public void clear() {
    shards.keySet().forEach(this::forget);
  }

  void changed(long moreBytes) {
    bytes.addAndGet(moreBytes);
  }

  /** Bytes of the batches held with their places; from any thread. */
  public long bytes() {
    return bytes.get();
  }
}
