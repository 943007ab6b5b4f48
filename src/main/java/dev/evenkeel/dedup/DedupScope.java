package dev.evenkeel.dedup;

import dev.evenkeel.protocol.wire.Bytes;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/**
 * Makes the dedup keys of one group and topic: equal bytes in another group or topic give another
 * key. Not safe for use from several threads.
 */
public final class DedupScope {
  private final MessageDigest sha256;
  private final byte[] prefix;

  public DedupScope(String group, String topic) {
    prefix = new Bytes().text(group).text(topic).toArray();
    try {
      sha256 = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /**
   * The first half of SHA-256 over scope and {@code bytes}, so that nobody can craft a message that
   * has the key of another one. Takes some hundred nanoseconds.
   */
  public DedupKey key(byte[] bytes) {
    sha256.update(prefix);
    return DedupKey.ofBytes(sha256.digest(bytes));
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
