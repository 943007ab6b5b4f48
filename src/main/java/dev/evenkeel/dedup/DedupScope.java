package dev.evenkeel.dedup;

import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.util.Sha256;
import java.security.MessageDigest;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/**
 * Makes the dedup keys of one group and topic, or of one dedup by name: equal bytes in another one
 * give another key. Not safe for use from several threads.
 */
public final class DedupScope {
  private final MessageDigest sha256;
  private final byte[] prefix;

  /** Whether all keys have the hash of the prefix as their first half. */
  private final boolean service;

  private final long high;

  public DedupScope(String group, String topic) {
    this(group, topic, false);
  }

  private DedupScope(String group, String topic, boolean service) {
    this.service = service;
    prefix = new Bytes().text(group).text(topic).toArray();
    sha256 = Sha256.digest();
    high = DedupKey.ofBytes(sha256.digest(prefix)).high();
  }

  /**
   * Of a dedup by name. The first half of its keys is a hash of the name, so that nodes see to
   * which dedup a key belongs.
   */
  public static DedupScope ofService(String name) {
    return new DedupScope(name, "", true);
  }

  /** Whether a key may be one of this dedup by name. */
  public boolean contains(DedupKey key) {
    return service && key.high() == high;
  }

  /**
   * The first half of SHA-256 over scope and {@code bytes}, so that nobody can craft a message that
   * has the key of another one. For a dedup by name, the first eight bytes of that hash are the
   * second half of the key. Takes some hundred nanoseconds.
   */
  public DedupKey key(byte[] bytes) {
    sha256.update(prefix);
    DedupKey key = DedupKey.ofBytes(sha256.digest(bytes));
    return service ? new DedupKey(high, key.high()) : key;
  }

  /**
   * CRC-32C and CRC-32 over scope and {@code bytes}: much faster than {@link #key} and good enough
   * to count repetitions, but easy to forge.
   */
  public long digest(byte[] bytes) {
    return checksum(new CRC32C(), bytes) << 32 | checksum(new CRC32(), bytes);
  }

  private long checksum(Checksum sum, byte[] bytes) {
    sum.update(prefix);
    sum.update(bytes);
    return sum.getValue();
  }
}
