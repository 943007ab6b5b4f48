package dev.evenkeel.protocol.wire;

/**
 * Murmur2 with the seed that Kafka's default partitioner uses, so that a key goes to the same shard
 * as there. Algorithm: Austin Appleby, MurmurHash2 (public domain), 32-bit.
 */
public final class Murmur2 {
  private static final int SEED = 0x9747b28c;
  private static final int M = 0x5bd1e995;
  private static final int R = 24;

  private Murmur2() {}

  /** The shard of a key: {@code (hash & 0x7fffffff) % shards}. */
  public static int shard(byte[] key, int shards) {
    return (hash(key) & 0x7fffffff) % shards;
  }

  public static int hash(byte[] data) {
    int length = data.length;
    int h = SEED ^ length;
    int words = length >> 2;
    for (int i = 0; i < words; i++) {
      int at = i << 2;
      int k =
          (data[at] & 0xff)
              | (data[at + 1] & 0xff) << 8
              | (data[at + 2] & 0xff) << 16
              | (data[at + 3] & 0xff) << 24;
      k *= M;
      k ^= k >>> R;
      k *= M;
      h *= M;
      h ^= k;
    }
    int tail = length & ~3;
    int rest = length & 3;
    if (rest == 3) {
      h ^= (data[tail + 2] & 0xff) << 16;
    }
    if (rest >= 2) {
      h ^= (data[tail + 1] & 0xff) << 8;
    }
    if (rest >= 1) {
      h ^= data[tail] & 0xff;
      h *= M;
    }
    h ^= h >>> 13;
    h *= M;
    return h ^ h >>> 15;
  }
}
