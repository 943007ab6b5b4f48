package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.CORRUPT;
import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;
import static dev.evenkeel.protocol.Refusal.WRONG_VERSION;

import dev.evenkeel.broker.state.BatchIndex;
import dev.evenkeel.broker.state.IndexEntry;
import dev.evenkeel.broker.state.Keys;
import dev.evenkeel.broker.state.LookBounds;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.broker.state.TailCache.Cached;
import dev.evenkeel.bus.Asker;
import dev.evenkeel.bus.DirectAnswers;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.storage.DamagedStoreException;
import dev.evenkeel.storage.Store;
import dev.evenkeel.util.Causes;
import io.vertx.core.Future;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads batches that are no longer in memory, and checks each one: a damaged batch is never served.
 * It is mended first, and read again then. One that is lost is left out.
 */
final class DiskReader {
  private final ServeContext serve;
  private final LogGroupServer group;
  private final Asker asker;
  private final Shard shard;
  private final int bytesMax;
  private final int messagesMax;
  private final boolean forSocket;
  private final FetchFrame frames;

  /** Whether somebody looks into the batches: it reads no more than {@link LookBounds} allows. */
  private final boolean looks;

  /**
   * Batches that were read.
   *
   * @param frame an answer with all of them, whose first {@link FetchFrame#headBytes} are free
   * @param batches views of the frame, at least one
   */
  record Found(ByteBuffer frame, List<Cached> batches) {
    long messages() {
      return batches.stream().mapToLong(each -> each.batch().count()).sum();
    }

    long bytes() {
      return batches.stream().mapToLong(each -> each.batch().length()).sum();
    }
  }

  /**
   * Batches to read, without a gap but for lost ones.
   *
   * @param end the offset behind them, and behind lost ones
   */
  private record Range(List<IndexEntry> entries, long end) {}

  /**
   * @param forSocket whether the answer is sent as it is, and only once
   * @param frames the form of the answer
   */
  DiskReader(
      ServeContext serve,
      LogGroupServer group,
      Asker asker,
      Shard shard,
      int bytesMax,
      int messagesMax,
      boolean forSocket,
      FetchFrame frames) {
    this(serve, group, asker, shard, bytesMax, messagesMax, forSocket, frames, false);
  }

  private DiskReader(
      ServeContext serve,
      LogGroupServer group,
      Asker asker,
      Shard shard,
      int bytesMax,
      int messagesMax,
      boolean forSocket,
      FetchFrame frames,
      boolean looks) {
    this.serve = serve;
    this.group = group;
    this.asker = asker;
    this.looks = looks;
    this.shard = shard;
    this.bytesMax = bytesMax;
    this.messagesMax = messagesMax;
    this.forSocket = forSocket;
    this.frames = frames;
  }

  /** Reads as much as a look takes. */
  static DiskReader looking(ServeContext serve, LogGroupServer group, Asker asker, Shard shard) {
    return new DiskReader(
        serve,
        group,
        asker,
        shard,
        LookBounds.BYTES,
        Integer.MAX_VALUE,
        false,
        FetchFrame.FORMER,
        true);
  }

  /**
   * Batches from the one that holds {@code offset} on, as many as {@code TailCache.read} would
   * give; the first one is behind it if that is lost.
   *
   * @return fails CORRUPT, naming topic, shard and offset, if the first of them is damaged or
   *     missing although its body is not; UNAVAILABLE if it cannot be mended now;
   *     OFFSET_OUT_OF_RANGE if retention took it meanwhile, or if nothing is left behind it
   */
  Future<Found> read(long offset) {
    return new MendingRead<>(serve, group, asker, () -> tryRead(offset)).run();
  }

  private Found tryRead(long offset) {
    long end = group.shard(shard).end();
    try {
      return group.state().read(store -> read(store, offset, end));
    } catch (UncheckedIOException e) {
      // The store has checksums of its own and notices missing files. It has reported the damage.
      DamagedStoreException damage = Causes.first(DamagedStoreException.class, e);
      throw damage == null
          ? UNAVAILABLE.error(e.getCause().getMessage())
          : MendingRead.refusal(place(offset, damage.getMessage()));
    }
  }

  private Found read(Store store, long offset, long end) {
    Range range = index(store, offset, end);
    Found found = range.entries().isEmpty() ? null : fill(range.entries());
    if (found != null) {
      return found;
    }
    ShardRecord now = group.shard(shard);
    if (offset < now.start()) {
      throw new RefusedException.OutOfRange(now.start(), now.end());
    }
    throw range.entries().isEmpty() && range.end() > offset
        ? new RefusedException.OutOfRange(range.end(), Math.max(range.end(), end))
        : MendingRead.corrupt(group, place(offset, "no batch holds this offset"));
  }

  private Range index(Store store, long offset, long end) {
    List<IndexEntry> found = new ArrayList<>();
    IndexEntry first = BatchIndex.at(store, shard, offset);
    if (first == null || first.end() <= offset) {
      return new Range(found, offset);
    }
    byte[] from = Keys.batch(shard, first.base());
    byte[] to = Keys.batch(shard, end);
    long wanted = offset;
    long next = first.base();
    long sum = 0;
    try (Store.Cursor cursor = store.scan(Store.Table.INDEX, from, to)) {
      while (sum < bytesMax && next - wanted < messagesMax && cursor.next()) {
        IndexEntry entry = IndexEntry.decode(cursor.key(), cursor.value());
        boolean more =
            sum + entry.bytes() > bytesMax
                || entry.end() - wanted > messagesMax
                || looks && found.size() == LookBounds.BATCHES;
        if (entry.base() != next || !found.isEmpty() && more) {
          break;
        }
        if (!isLost(entry)) {
          found.add(entry);
          sum += entry.bytes();
        } else if (found.isEmpty()) {
          wanted = entry.end();
        }
        next = entry.end();
      }
    }
    return new Range(found, next);
  }

  /** In a body that is lost, batches may be whole. */
  private boolean isLost(IndexEntry entry) {
    if (!group.mender().isLost(entry.place().index())) {
      return false;
    }
    byte[] bytes = group.state().bytes(entry);
    try {
      return bytes == null || Batch.whole(ByteBuffer.wrap(bytes)) == null;
    } catch (RefusedException damaged) {
      return true;
    }
  }

  /** Reads them into one buffer, each behind its offset; null if the first one is gone. */
  private Found fill(List<IndexEntry> entries) {
    int bytes = frames.headBytes();
    for (IndexEntry entry : entries) {
      bytes += frames.placeBytes() + entry.bytes();
    }
    ByteBuffer frame = forSocket ? DirectAnswers.memory(bytes) : ByteBuffer.allocate(bytes);
    List<ByteBuffer> slices = new ArrayList<>(entries.size());
    int at = frames.headBytes();
    for (IndexEntry entry : entries) {
      frames.putPlace(frame.position(at), entry.base(), entry.place().index());
      slices.add(frame.slice(at + frames.placeBytes(), entry.bytes()));
      at += frames.placeBytes() + entry.bytes();
    }
    int there = group.state().read(entries, slices);
    LookBounds look = looks ? new LookBounds() : null;
    List<Cached> found = new ArrayList<>(there);
    at = frames.headBytes();
    for (int i = 0; i < entries.size(); i++) {
      ByteBuffer slice = i < there ? slices.get(i).flip() : null;
      Batch batch = whole(entries.get(i), slice, i == 0);
      if (batch == null || look != null && !look.take(batch)) {
        break;
      }
      found.add(new Cached(entries.get(i).base(), batch, entries.get(i).place().index()));
      at += frames.placeBytes() + entries.get(i).bytes();
    }
    return found.isEmpty() ? null : new Found(frame.clear().limit(at), found);
  }

  /**
   * The batch, or null if it is gone, or damaged and not the first.
   *
   * @param bytes null if they are not there
   * @throws DamagedBodyException if the first one is damaged
   */
  private Batch whole(IndexEntry entry, ByteBuffer bytes, boolean first) {
    long index = entry.place().index();
    try {
      if (bytes == null) {
        throw CORRUPT.error("the bytes of the batch are missing");
      }
      return Batch.whole(bytes);
    } catch (RefusedException damaged) {
      if (entry.base() < group.shard(shard).start()) {
        // Retention has dropped the batch since the index was read.
        return null;
      }
      if (first && damaged.refusal() == WRONG_VERSION && group.state().holdsBody(index)) {
        throw damaged;
      }
      if (first) {
        throw new DamagedBodyException(index, place(entry.base(), damaged.getMessage()));
      }
      group.mender().mend(index);
      return null;
    }
  }

  private String place(long offset, String reason) {
    return group.state().tables().nameOf(shard)
        + " offset "
        + offset
        + " on "
        + group.nodeId()
        + ": "
        + reason;
  }
}
