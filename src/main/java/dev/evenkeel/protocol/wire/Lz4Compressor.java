package dev.evenkeel.protocol.wire;

import net.jpountz.lz4.LZ4Compressor;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4SafeDecompressor;

/** The block format of LZ4. This is the only class that names its library. */
final class Lz4Compressor implements Compressor {
  private final LZ4Compressor compressor;
  private final LZ4SafeDecompressor decompressor;

  Lz4Compressor() {
    // In native code if its library can be loaded, else in Java.
    LZ4Factory factory = LZ4Factory.fastestInstance();
    UnpackedLibrary.remove("liblz4-java-");
    compressor = factory.fastCompressor();
    decompressor = factory.safeDecompressor();
  }

  @Override
  public int bytesMax(int length) {
    return compressor.maxCompressedLength(length);
  }

  @Override
  public int compress(byte[] from, int at, int length, byte[] to, int toAt) {
    return compressor.compress(from, at, length, to, toAt);
  }

  @Override
  public int unpack(byte[] from, int at, int length, byte[] to, int room) {
    return decompressor.decompress(from, at, length, to, 0, room);
  }
}
