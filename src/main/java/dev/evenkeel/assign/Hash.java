package dev.evenkeel.assign;

import java.nio.charset.StandardCharsets;

/**
 * A 64-bit hash that is the same in every JVM: MurmurHash64A by Austin Appleby (public domain),
 * seed 0.
 */
final class Hash {
  private static final long M = 0xc6a4a7935bd1e995L;
  private static final int R = 47;

  private Hash() {}

  static long of(String text) {
    return of(text.getBytes(StandardCharsets.UTF_8));
  }

  static long of(byte[] data) {
    long h = data.length * M;
    int words = data.length >> 3;
    for (int i = 0; i < words; i++) {
      long k = word(data, i << 3, 8);
      k *= M;
      k ^= k >>> R;
      k *= M;
      h ^= k;
      h *= M;
    }
    int rest = data.length & 7;
    if (rest > 0) {
      h ^= word(data, words << 3, rest);
      h *= M;
    }
    h ^= h >>> R;
    h *= M;
    return h ^ h >>> R;
  }

  private static long word(byte[] data, int at, int bytes) {
    long word = 0;
    for (int i = 0; i < bytes; i++) {
      word |= (data[at + i] & 0xffL) << (8 * i);
    }
    return word;
  }
}
