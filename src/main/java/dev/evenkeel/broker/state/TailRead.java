package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.wire.Batch;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Batches of a shard that were found in a {@link TailMemory}, one after another without a gap. It
 * keeps the chunks in which they are.
 */
public final class TailRead {
  static final TailRead NONE = new TailRead();

  private final int shift;
  private final byte[][] chunks;
  private final long firstChunk;
  private final long[] positions;
  private final int[] lengths;
  private final int size;
  private final long bytes;
  private final long baseOffset;
  private final long endOffset;

  private TailRead() {
    shift = 0;
    chunks = new byte[0][];
    firstChunk = 0;
    positions = new long[0];
    lengths = new int[0];
    size = 0;
    bytes = 0;
    baseOffset = 0;
    endOffset = 0;
  }

  /** Under the lock of the shard: its batches are not dropped meanwhile. */
  TailRead(TailMemory memory, long[] positions, int[] lengths, int size, long endOffset) {
    shift = memory.shift();
    this.positions = positions;
    this.lengths = lengths;
    this.size = size;
    this.endOffset = endOffset;
    baseOffset = memory.baseOffset(positions[0]);
    firstChunk = positions[0] >> shift;
    chunks = memory.chunks(positions[0], end(size - 1));
    long sum = 0;
    for (int i = 0; i < size; i++) {
      sum += lengths[i];
    }
    bytes = sum;
  }

  /** Takes pieces of memory, in their order. They never change. */
  public interface Pieces {
    void piece(byte[] memory, int from, int length);
  }

  public boolean isEmpty() {
    return size == 0;
  }

  /** Number of batches. */
  public int size() {
    return size;
  }

  /** Bytes of all batches. */
  public long bytes() {
    return bytes;
  }

  /** Bytes of all the memory that a view of the batches keeps. */
  public long keptBytes() {
    return (long) chunks.length << shift;
  }

  /** Number of messages. */
  public long messages() {
    return endOffset - baseOffset;
  }

  /** The offset behind the last message. */
  public long endOffset() {
    return endOffset;
  }

  private long end(int i) {
    return positions[i] + TailMemory.PLACE_BYTES + lengths[i];
  }

  /**
   * The batches in as few pieces as possible.
   *
   * @param placed whether the log index of a batch is wanted, too; its base offset always is
   */
  public void each(boolean placed, Pieces pieces) {
    if (!placed) {
      for (int i = 0; i < size; i++) {
        pieces(positions[i], positions[i] + Long.BYTES, pieces);
        pieces(positions[i] + TailMemory.PLACE_BYTES, end(i), pieces);
      }
      return;
    }
    long from = size == 0 ? 0 : positions[0];
    for (int i = 1; i < size; i++) {
      if (positions[i] != end(i - 1)) {
        pieces(from, end(i - 1), pieces);
        from = positions[i];
      }
    }
    if (size > 0) {
      pieces(from, end(size - 1), pieces);
    }
  }

  /** How many pieces {@link #each} gives. */
  public int pieces(boolean placed) {
    int[] count = new int[1];
    each(placed, (memory, from, length) -> count[0]++);
    return count[0];
  }

  private void pieces(long from, long to, Pieces pieces) {
    long at = from;
    while (at < to) {
      long border = Math.min(to, ((at >> shift) + 1) << shift);
      pieces.piece(chunk(at), in(at), (int) (border - at));
      at = border;
    }
  }

  private byte[] chunk(long at) {
    return chunks[(int) ((at >> shift) - firstChunk)];
  }

  private int in(long at) {
    return (int) at & (1 << shift) - 1;
  }

  /** Each batch by itself: a view, or a copy if it lies in several chunks. */
  public List<TailCache.Cached> batches() {
    List<TailCache.Cached> found = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      ByteBuffer place = bytes(positions[i], TailMemory.PLACE_BYTES);
      ByteBuffer batch = bytes(positions[i] + TailMemory.PLACE_BYTES, lengths[i]);
      long base = place.getLong();
      found.add(new TailCache.Cached(base, new Batch(batch), place.getLong()));
    }
    return found;
  }

  private ByteBuffer bytes(long from, int length) {
    if (from >> shift == from + length - 1 >> shift) {
      return ByteBuffer.wrap(chunk(from), in(from), length).slice().asReadOnlyBuffer();
    }
    ByteBuffer copy = ByteBuffer.allocate(length);
    pieces(from, from + length, copy::put);
    return copy.flip();
  }
}
