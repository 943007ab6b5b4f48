package dev.evenkeel.dedup;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** MurmurHash3_x64_128 by Austin Appleby (public domain), with a seed of 64 bits. */
final class Murmur {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long C1 = 0x87c37b91114253d5L;
  private static final long C2 = 0x4cf5ad432745937fL;

  private Murmur() {}

  static DedupKey of(byte[] data, long seed) {
    long h1 = seed;
    long h2 = seed;
    int blocksEnd = data.length & ~15;
    for (int at = 0; at < blocksEnd; at += 16) {
      h1 ^= mix1((long) LONGS.get(data, at));
      h1 = (Long.rotateLeft(h1, 27) + h2) * 5 + 0x52dce729;
      h2 ^= mix2((long) LONGS.get(data, at + 8));
      h2 = (Long.rotateLeft(h2, 31) + h1) * 5 + 0x38495ab5;
    }
    int rest = data.length - blocksEnd;
    if (rest > 8) {
      h2 ^= mix2(tail(data, blocksEnd + 8, rest - 8));
    }
    if (rest > 0) {
      h1 ^= mix1(tail(data, blocksEnd, Math.min(rest, 8)));
    }
    h1 ^= data.length;
    h2 ^= data.length;
    h1 += h2;
    h2 += h1;
    h1 = end(h1);
    h2 = end(h2);
    h1 += h2;
    return new DedupKey(h1, h2 + h1);
  }

  private static long mix1(long word) {
    return Long.rotateLeft(word * C1, 31) * C2;
  }

  private static long mix2(long word) {
    return Long.rotateLeft(word * C2, 33) * C1;
  }

  private static long tail(byte[] data, int from, int bytes) {
    long word = 0;
    for (int i = bytes - 1; i >= 0; i--) {
      word = word << 8 | data[from + i] & 0xff;
    }
    return word;
  }

  private static long end(long hash) {
    long h = hash;
    h = (h ^ h >>> 33) * 0xff51afd7ed558ccdL;
    h = (h ^ h >>> 33) * 0xc4ceb9fe1a85ec53L;
    return h ^ h >>> 33;
  }
}
