package dev.evenkeel.dedup;

import java.nio.ByteBuffer;

/**
 * A hash of 128 bits for a key or payload within a topic and a group, or for a key of a {@link
 * DedupScope#ofService dedup by name}.
 *
 * @param high the first eight bytes; for a dedup by name, a hash of the name
 * @param low the others
 */
public record DedupKey(long high, long low) {
  public static final int BYTES = 16;

  /** From the first {@link #BYTES} bytes: see {@link #bytes}. */
  public static DedupKey ofBytes(byte[] bytes) {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    return new DedupKey(in.getLong(), in.getLong());
  }

  public byte[] bytes() {
    return ByteBuffer.allocate(BYTES).putLong(high).putLong(low).array();
  }

  /** The bits are a hash already. */
  @Override
  public int hashCode() {
    return folded(high ^ low);
  }

  /** A hash of one half. */
  static int folded(long half) {
    return (int) (half ^ half >>> 32);
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
