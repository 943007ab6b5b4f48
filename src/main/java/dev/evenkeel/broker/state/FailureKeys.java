package dev.evenkeel.broker.state;

import java.nio.ByteBuffer;

/**
 * Keys of table FAILURES. Each begins with {@code group 0 topicId shard}, then:
 *
 * <pre>
 * 1 offset       entry: a message that waits
 * 2 offset       the message of an entry that was moved: KeptMessage
 * 3 due offset   (empty) a waiting entry, by when it is due
 * 4 queue offset  (empty) a moved message that has a key
 * 5 offset       (empty) mark: it has left the window
 * 6 offset       dead letter: StoredLetter
 * </pre>
 *
 * The counts of all these are in table LEASES. Offsets and times are never negative, so that they
 * sort as they count; hashes of keys sort in any order.
 */
public final class FailureKeys {
  public static final int ENTRY = 1;
  public static final int MESSAGE = 2;
  public static final int DUE = 3;
  public static final int QUEUE = 4;
  public static final int MARK = 5;
  public static final int DEAD = 6;
  private static final int PARTS = 7;

  private final byte[] prefix;

  public FailureKeys(LeaseKey key) {
    prefix = Keys.prefix(key);
  }

  /** Before every key of {@code part}; behind every key of the part before it. */
  public byte[] part(int part) {
    return key(part, 0).array();
  }

  public byte[] at(int part, long offset) {
    return key(part, Long.BYTES).putLong(offset).array();
  }

  public byte[] due(long dueMillis, long offset) {
    return key(DUE, 2 * Long.BYTES).putLong(dueMillis).putLong(offset).array();
  }

  public byte[] queue(long keyHash, long offset) {
    return key(QUEUE, 2 * Long.BYTES).putLong(keyHash).putLong(offset).array();
  }

  private ByteBuffer key(int part, int moreBytes) {
    return ByteBuffer.allocate(prefix.length + 1 + moreBytes).put(prefix).put((byte) part);
  }

  /** Before everything of the group and shard. */
  public byte[] first() {
    return prefix.clone();
  }

  /** Behind everything of the group and shard. */
  public byte[] last() {
    return part(PARTS);
  }

  /** Whether the value of any key of the table begins with a {@link KeptMessage}. */
  public static boolean hasMessage(byte[] key) {
    int group = 0;
    while (key[group] != 0) {
      group++;
    }
    byte part = key[group + 1 + 2 * Integer.BYTES];
    return part == MESSAGE || part == DEAD;
  }

  /** Whether a key of the same group and shard is of that part. */
  boolean isOf(int part, byte[] key) {
    return key[prefix.length] == part;
  }

  /** The number that a key ends with: its offset. */
  public static long offset(byte[] key) {
    return ByteBuffer.wrap(key).getLong(key.length - 8);
  }

  /** The number before that: a time, or the hash of a key. */
  public static long first(byte[] key) {
    return ByteBuffer.wrap(key).getLong(key.length - 16);
  }
}
