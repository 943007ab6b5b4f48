package dev.evenkeel.protocol.wire;

import static dev.evenkeel.protocol.Refusal.INVALID;

import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.RefusedException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Compresses the messages of batches, and unpacks them. The header of a compressed batch is that of
 * any other; what follows it is
 *
 * <pre>
 * 52  i32  length of the messages when they are unpacked
 * 56  ...  an LZ4 block, or a frame of Zstandard
 * </pre>
 *
 * A producer has one of its own, which one thread at a time uses.
 */
public final class BatchPacker {
  /** Where the compressed bytes begin. */
  static final int BLOCK_AT = Batch.HEADER_BYTES + Integer.BYTES;

  /** The libraries that were loaded, each when it was first needed. */
  private static final Map<Compression, Compressor> LOADED = new ConcurrentHashMap<>();

  /** Memory to unpack a batch for a check: as much as checks ever needed at once. */
  private static final Queue<byte[]> SCRATCH = new ConcurrentLinkedQueue<>();

  private final Compression compression;
  private final Compressor compressor;
  private byte[] scratch = new byte[0];

  private BatchPacker(Compression compression) {
    this.compression = compression;
    compressor = compressor(compression);
  }

  /**
   * Null for {@link Compression#NONE}.
   *
   * @throws RefusedException INVALID if the library is missing
   */
  public static @Nullable BatchPacker of(Compression compression) {
    return compression == Compression.NONE ? null : new BatchPacker(compression);
  }

  /**
   * @throws RefusedException INVALID if the library is missing
   */
  static Compressor compressor(Compression compression) {
    Compressor loaded = LOADED.get(compression);
    return loaded != null ? loaded : LOADED.computeIfAbsent(compression, BatchPacker::load);
  }

  private static Compressor load(Compression compression) {
    try {
      return switch (compression) {
        case LZ4 -> new Lz4Compressor();
        case ZSTD -> new ZstdCompressor();
        case NONE -> throw new IllegalArgumentException("nothing compresses it");
      };
    } catch (LinkageError e) {
      boolean lz4 = compression == Compression.LZ4;
      throw INVALID.error(
          e.getCause() instanceof ClassNotFoundException
              ? "compression %s needs a library: add the Maven dependency %s to this program"
              : "compression %s needs the library %s, which cannot be loaded: %s",
          lz4 ? "lz4" : "zstd",
          lz4 ? "at.yawk.lz4:lz4-java" : "com.github.luben:zstd-jni",
          e.toString().replace('\n', ' '));
    }
  }

  /**
   * The batch with its messages compressed and the rest of its header empty; null if that is not
   * smaller.
   *
   * @param plain a batch, of which the header is not looked at
   */
  byte @Nullable [] pack(ByteBuffer plain) {
    int length = plain.limit() - Batch.HEADER_BYTES;
    int most = BLOCK_AT + compressor.bytesMax(length);
    if (scratch.length < most) {
      scratch = new byte[most];
    }
    int from = plain.arrayOffset() + Batch.HEADER_BYTES;
    int packed = BLOCK_AT + compressor.compress(plain.array(), from, length, scratch, BLOCK_AT);
    if (packed >= plain.limit()) {
      return null;
    }
    byte[] batch = Arrays.copyOf(scratch, packed);
    ByteBuffer.wrap(batch)
        .put(Batch.FLAGS_AT, (byte) compression.ordinal())
        .putInt(Batch.HEADER_BYTES, length);
    return batch;
  }

  /**
   * The messages of a compressed batch. Takes no more memory than the batch states, and that is
   * limited.
   *
   * @throws MalformedException INVALID
   * @throws RefusedException INVALID if the library is missing
   */
  static ByteBuffer unpack(Batch batch) {
    byte[] to = new byte[batch.statedBytes()];
    unpack(batch, to, to.length);
    return ByteBuffer.wrap(to);
  }

  /**
   * Unpacks a compressed batch and walks over its messages. Keeps nothing of it.
   *
   * @throws MalformedException INVALID
   * @throws RefusedException INVALID if the library is missing
   */
  static void check(Batch batch) {
    int length = batch.statedBytes();
    byte[] idle = SCRATCH.poll();
    byte[] to = idle == null ? new byte[Limits.BATCH_BYTES_MAX] : idle;
    try {
      unpack(batch, to, length);
      new BatchWalk(ByteBuffer.wrap(to, 0, length), 0).overAll(batch.count());
    } finally {
      SCRATCH.add(to);
    }
  }

  private static void unpack(Batch batch, byte[] to, int stated) {
    ByteBuffer bytes = batch.bytes();
    int length = batch.length() - BLOCK_AT;
    byte[] from;
    int at;
    if (bytes.hasArray()) {
      from = bytes.array();
      at = bytes.arrayOffset() + BLOCK_AT;
    } else {
      from = new byte[length];
      bytes.get(BLOCK_AT, from);
      at = 0;
    }
    Compressor compressor = compressor(batch.compression());
    int unpacked;
    try {
      unpacked = compressor.unpack(from, at, length, to, stated);
    } catch (RuntimeException malformed) {
      throw Batch.malformed("it cannot be unpacked to " + stated + " bytes: " + malformed);
    }
    if (unpacked != stated) {
      throw Batch.malformed("it states " + stated + " bytes and unpacks to " + unpacked);
    }
  }
}
