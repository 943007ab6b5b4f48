package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.wire.BatchHeader;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The newest batches of all data log groups of a node, in the order in which they were applied: one
 * ring of bytes, cut into chunks. A batch is a place ({@code i64 baseOffset, i64 logIndex}) and its
 * bytes, and may lie in several chunks. So it costs {@link #PLACE_BYTES} and one number more than
 * its bytes, and no object.
 *
 * <p>The chunk with the oldest batches is dropped first. Its bytes never change: whoever has found
 * batches in it keeps it until they are sent, and the garbage collector frees it then.
 *
 * <p>Any thread may add, and any may read. An add waits for another one; a read waits only for the
 * numbers of its shard.
 */
public final class TailMemory {
  /** What stands before a batch. */
  static final int PLACE_BYTES = 2 * Long.BYTES;

  private static final int CHUNK_BYTES_MAX = 256 << 10;
  private static final int CHUNK_BYTES_MIN = 4 << 10;

  /** More chunks make what is dropped at once smaller, and cost more. */
  private static final int CHUNKS = 32;

  /** In the header of a batch. */
  private static final int LENGTH_AT = PLACE_BYTES + 4;

  private static final int FLAGS_AT = PLACE_BYTES + 3;
  private static final int COUNT_AT = PLACE_BYTES + 32;

  /** Behind the header of a compressed batch: the length of its messages when they are unpacked. */
  private static final int UNPACKED_AT = PLACE_BYTES + BatchHeader.BYTES;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

  private final long bytesMax;
  private final int shift;
  private final int chunkBytes;

  /** By their number, modulo the length. */
  private final AtomicReferenceArray<byte[]> chunks;

  /** The shards with batches that begin in a chunk, oldest chunk first. */
  private final ArrayDeque<List<ShardTail>> shardsOf = new ArrayDeque<>();

  private long firstChunk;

  /** Where the next batch begins. */
  private long end;

  /** Memory of the numbers. */
  private long indexBytes;

  private volatile long bytes;

  /**
   * @param bytesMax bound on all memory, including what finds a batch; 0 holds none
   */
  public TailMemory(long bytesMax) {
    this(bytesMax, chunkBytes(bytesMax));
  }

  /**
   * @param chunkBytes a power of two
   */
  TailMemory(long bytesMax, int chunkBytes) {
    this.bytesMax = bytesMax;
    this.chunkBytes = chunkBytes;
    shift = Integer.numberOfTrailingZeros(chunkBytes);
    chunks = new AtomicReferenceArray<>((int) (bytesMax / chunkBytes));
  }

  private static int chunkBytes(long bytesMax) {
    long part = Math.max(CHUNK_BYTES_MIN, Math.min(CHUNK_BYTES_MAX, bytesMax / CHUNKS));
    return (int) Long.highestOneBit(part);
  }

  /** Adds a batch to a shard: all of the bytes from the buffer's position on. */
  synchronized void add(ShardTail shard, long baseOffset, long logIndex, ByteBuffer batch) {
    int length = PLACE_BYTES + batch.remaining();
    if (!makeRoom(length)) {
      return;
    }
    long at = end;
    putLong(at, baseOffset);
    putLong(at + Long.BYTES, logIndex);
    put(at + PLACE_BYTES, batch);
    end = at + length;
    long number = at >> shift;
    if (shard.lastChunk != number) {
      shard.lastChunk = number;
      // A batch that begins at a border of chunks was the first to need the chunk.
      last(number).add(shard);
    }
    indexBytes += shard.add(at);
    showBytes();
  }

  /** Drops chunks until a batch can be added; false if it never can. */
  private boolean makeRoom(int length) {
    long current = end >> shift;
    long last = (end + length - 1) >> shift;
    if (last - current >= chunks.length()) {
      return false;
    }
    while (!shardsOf.isEmpty() && firstChunk < current && !fits(last)) {
      dropFirst();
    }
    if (!fits(last)) {
      return false;
    }
    while (firstChunk + shardsOf.size() <= last) {
      chunks.set(slot(firstChunk + shardsOf.size()), new byte[chunkBytes]);
      shardsOf.add(new ArrayList<>(2));
    }
    return true;
  }

  private boolean fits(long lastChunk) {
    long count = lastChunk - firstChunk + 1;
    return count <= chunks.length() && count * chunkBytes + indexBytes <= bytesMax;
  }

  private void dropFirst() {
    long border = (firstChunk + 1) << shift;
    for (ShardTail shard : shardsOf.remove()) {
      indexBytes += shard.dropBelow(border);
    }
    chunks.set(slot(firstChunk), null);
    firstChunk++;
  }

  private List<ShardTail> last(long number) {
    if (firstChunk + shardsOf.size() - 1 == number) {
      return shardsOf.peekLast();
    }
    // The batch goes on in later chunks.
    int skip = (int) (number - firstChunk);
    for (List<ShardTail> each : shardsOf) {
      if (skip-- == 0) {
        return each;
      }
    }
    throw new IllegalStateException("no chunk " + number);
  }

  /** Forgets the batches of a shard. Their bytes go with their chunks. */
  synchronized void forget(ShardTail shard) {
    indexBytes += shard.dropBelow(Long.MAX_VALUE);
    showBytes();
  }

  private void showBytes() {
    bytes = (long) shardsOf.size() * chunkBytes + indexBytes;
  }

  /** Memory that is taken, on the heap. */
  public long bytes() {
    return bytes;
  }

  private int slot(long number) {
    return (int) (number % chunks.length());
  }

  // Of batches that are held

  long baseOffset(long at) {
    return getLong(at);
  }

  /** Length of the batch in bytes. */
  int length(long at) {
    return getInt(at + LENGTH_AT);
  }

  /** Number of messages. */
  int count(long at) {
    return getInt(at + COUNT_AT);
  }

  /** Length of the batch when it is unpacked; of one that is not compressed, its length. */
  long unpackedLength(long at) {
    int length = length(at);
    boolean compressed =
        length > UNPACKED_AT - PLACE_BYTES + Integer.BYTES
            && chunk(at + FLAGS_AT)[in(at + FLAGS_AT)] != 0;
    return compressed ? BatchHeader.BYTES + Math.max(0L, getInt(at + UNPACKED_AT)) : length;
  }

  /** The chunks from one position to another. */
  byte[][] chunks(long from, long to) {
    byte[][] found = new byte[(int) (((to - 1) >> shift) - (from >> shift) + 1)][];
    for (int i = 0; i < found.length; i++) {
      found[i] = chunks.get(slot((from >> shift) + i));
    }
    return found;
  }

  int shift() {
    return shift;
  }

  private byte[] chunk(long at) {
    return chunks.get(slot(at >> shift));
  }

  private int in(long at) {
    return (int) at & chunkBytes - 1;
  }

  private long getLong(long at) {
    int in = in(at);
    if (in <= chunkBytes - Long.BYTES) {
      return (long) LONG.get(chunk(at), in);
    }
    return (long) getInt(at) << 32 | getInt(at + Integer.BYTES) & 0xFFFF_FFFFL;
  }

  private int getInt(long at) {
    int in = in(at);
    if (in <= chunkBytes - Integer.BYTES) {
      return (int) INT.get(chunk(at), in);
    }
    int value = 0;
    for (int i = 0; i < Integer.BYTES; i++) {
      value = value << 8 | chunk(at + i)[in(at + i)] & 0xFF;
    }
    return value;
  }

  private void putLong(long at, long value) {
    int in = in(at);
    if (in <= chunkBytes - Long.BYTES) {
      LONG.set(chunk(at), in, value);
      return;
    }
    for (int i = 0; i < Long.BYTES; i++) {
      chunk(at + i)[in(at + i)] = (byte) (value >> 8 * (Long.BYTES - 1 - i));
    }
  }

  private void put(long at, ByteBuffer from) {
    int position = from.position();
    for (long to = at; position < from.limit(); ) {
      int part = Math.min(from.limit() - position, chunkBytes - in(to));
      from.get(position, chunk(to), in(to), part);
      position += part;
      to += part;
    }
  }
}
