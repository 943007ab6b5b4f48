package dev.evenkeel.dedup;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Makes keys within one group and topic: what is equal in another group or topic is not the same.
 * Not safe for threads.
 */
public final class DedupScope {
  private final MessageDigest sha256;
  private final byte[] prefix;
  private final long seed;

  public DedupScope(String group, String topic) {
    byte[] groupBytes = group.getBytes(StandardCharsets.UTF_8);
    byte[] topicBytes = topic.getBytes(StandardCharsets.UTF_8);
    prefix = new byte[2 * Integer.BYTES + groupBytes.length + topicBytes.length];
    put(put(0, groupBytes), topicBytes);
    seed = Murmur.of(prefix, 0).high();
    try {
      sha256 = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  private int put(int at, byte[] bytes) {
    for (int i = 0; i < Integer.BYTES; i++) {
      prefix[at + i] = (byte) (bytes.length >>> 24 - 8 * i);
    }
    System.arraycopy(bytes, 0, prefix, at + Integer.BYTES, bytes.length);
    return at + Integer.BYTES + bytes.length;
  }

  /**
   * The first half of SHA-256, of scope and {@code bytes}: nobody can make a message that is taken
   * for another one, which would then be declined. Some hundred nanoseconds.
   */
  public DedupKey key(byte[] bytes) {
    sha256.update(prefix);
    byte[] digest = sha256.digest(bytes);
    return new DedupKey(DedupKey.word(digest, 0), DedupKey.word(digest, Long.BYTES));
  }

  /**
   * MurmurHash3 of scope and {@code bytes}: ten times as fast, and good where nobody wants to make
   * two messages look the same. For measuring, and for producers that are trusted.
   */
  public DedupKey quickKey(byte[] bytes) {
    return Murmur.of(bytes, seed);
  }
}
