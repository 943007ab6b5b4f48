package dev.evenkeel.dedup;

/**
 * 128 bits that stand for a key or payload in a topic and a group.
 *
 * @param high the first eight bytes
 * @param low the others
 */
public record DedupKey(long high, long low) {
  public static final int BYTES = 16;

  /** Of the {@link #BYTES} bytes of {@link #bytes}. */
  public static DedupKey ofBytes(byte[] bytes) {
    return new DedupKey(word(bytes, 0), word(bytes, Long.BYTES));
  }

  public byte[] bytes() {
    byte[] bytes = new byte[BYTES];
    for (int i = 0; i < Long.BYTES; i++) {
      bytes[i] = (byte) (high >>> 56 - 8 * i);
      bytes[Long.BYTES + i] = (byte) (low >>> 56 - 8 * i);
    }
    return bytes;
  }

  /** The first eight of {@code bytes} from {@code at}, big end first. */
  static long word(byte[] bytes, int at) {
    long word = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      word = word << 8 | bytes[at + i] & 0xff;
    }
    return word;
  }

  /** All bits are alike: these are hashes already. */
  @Override
  public int hashCode() {
    return (int) (high ^ high >>> 32);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof DedupKey key && high == key.high && low == key.low;
  }

  @Override
  public String toString() {
    return String.format("%016x%016x", high, low);
  }
}
