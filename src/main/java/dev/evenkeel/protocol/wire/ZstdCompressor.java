package dev.evenkeel.protocol.wire;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import com.github.luben.zstd.ZstdDecompressCtx;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Frames of Zstandard. This is the only class that names its library. To make a context takes
 * longer than to unpack a small batch with it, so contexts are kept: as many as were ever in use at
 * once.
 */
final class ZstdCompressor implements Compressor {
  /** The library's own default. */
  private static final int LEVEL = 3;

  private final Queue<ZstdCompressCtx> compressing = new ConcurrentLinkedQueue<>();
  private final Queue<ZstdDecompressCtx> unpacking = new ConcurrentLinkedQueue<>();

  ZstdCompressor() {
    // Loads the native library now, not while a batch is on its way.
    compressing.add(new ZstdCompressCtx().setLevel(LEVEL));
    unpacking.add(new ZstdDecompressCtx());
    UnpackedLibrary.remove("libzstd-jni-");
  }

  @Override
  public int bytesMax(int length) {
    return Math.toIntExact(Zstd.compressBound(length));
  }

  @Override
  public int compress(byte[] from, int at, int length, byte[] to, int toAt) {
    ZstdCompressCtx idle = compressing.poll();
    ZstdCompressCtx context = idle == null ? new ZstdCompressCtx().setLevel(LEVEL) : idle;
    try {
      return context.compressByteArray(to, toAt, to.length - toAt, from, at, length);
    } finally {
      compressing.add(context);
    }
  }

  @Override
  public int unpack(byte[] from, int at, int length, byte[] to, int room) {
    ZstdDecompressCtx idle = unpacking.poll();
    ZstdDecompressCtx context = idle == null ? new ZstdDecompressCtx() : idle;
    try {
      return context.decompressByteArray(to, 0, room, from, at, length);
    } finally {
      unpacking.add(context);
    }
  }
}
