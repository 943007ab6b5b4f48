package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.Pause;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.Shard;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Keys of the store. Numbers are big-endian and never negative, so that they sort as they count.
 *
 * <pre>
 * META       'T' topicId            topic of a data log group, or of the meta log group
 *            'S' topicId shard      shard
 *            'R' topicId shard      retention marks
 *            'D' topicId shard      counts of delayed messages
 *            'C'                    time of the log
 *            'E'                    the highest epoch of a removed lease
 *            'G'                    the lowest generation of a new lease
 *            'G' name               group             (meta log group)
 *            'U' group 0 topic      topic that came to a group's record since the record was written
 *            'L' name               lease of a group  (meta log group)
 *            'P' name               named producer    (meta log group)
 *            'N'                    next ids and other growing numbers (meta log group)
 *            'M' number             move              (meta log group)
 *            'D' index              added data group  (meta log group)
 *            'Q' kind name          quota             (meta log group)
 *            'O' table name         owner of a row    (meta log group)
 *            'H' topicId shard+1 group   pause        (meta log group)
 *            'W' name               user              (meta log group)
 * INDEX      topicId shard offset   index entry
 * LEASES     group 0 topicId shard 0   lease without its state
 *            group 0 topicId shard 1   the state's bytes
 *            group 0 topicId shard 2   counts of failures
 * FAILURES   see FailureKeys
 * DELAYED    topicId shard due serial   delayed batch, see DelayedKey and DelayedBatch
 * PRODUCERS  producerId                   producer
 *            producerId topicId shard     its last batches there
 * </pre>
 */
public final class Keys {
  static final byte[] COUNTERS = {'N'};
  static final byte[] TIME = {'C'};
  static final byte[] GENERATION_FLOOR = {'G'};
  static final byte[] EPOCH_FLOOR = {'E'};
  static final byte[] FEATURE_LEVEL = {'F'};
  static final byte PAUSE = 'H';
  static final byte USER = 'W';
  static final char OWNER = 'O';
  private static final byte[] LAST = new byte[64];

  static {
    Arrays.fill(LAST, (byte) 0xFF);
  }

  private Keys() {}

  /** Before every key. */
  public static byte[] first() {
    return new byte[0];
  }

  /** After every key. */
  public static byte[] last() {
    return LAST.clone();
  }

  static byte[] addedGroup(int index) {
    return ByteBuffer.allocate(5).put((byte) 'D').putInt(index).array();
  }

  static byte[] topic(int topicId) {
    return ByteBuffer.allocate(5).put((byte) 'T').putInt(topicId).array();
  }

  static byte[] shard(Shard shard) {
    return metaShard('S', shard);
  }

  static byte[] marks(Shard shard) {
    return metaShard('R', shard);
  }

  static byte[] delays(Shard shard) {
    return metaShard('D', shard);
  }

  private static byte[] metaShard(char tag, Shard shard) {
    return put(ByteBuffer.allocate(9).put((byte) tag), shard).array();
  }

  static byte[] named(char tag, String name) {
    byte[] utf8 = name.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(1 + utf8.length).put((byte) tag).put(utf8).array();
  }

  static byte[] groupTopic(String group, String topic) {
    return named('U', group + '\0' + topic);
  }

  /** The group and the topic of a {@link #groupTopic} key. */
  static String[] groupTopic(byte[] key) {
    return new String(key, 1, key.length - 1, StandardCharsets.UTF_8).split("\0", 2);
  }

  /** The kind is one digit. */
  static byte[] quota(Quota.Key key) {
    return named('Q', SharedTable.row(key).name());
  }

  /** The table is one digit. */
  static byte[] owner(SharedTable.Row row) {
    return named(OWNER, row.table().ordinal() + row.name());
  }

  /** The row of an {@link #owner} key. */
  static SharedTable.Row owned(byte[] key) {
    String name = new String(key, 2, key.length - 2, StandardCharsets.UTF_8);
    return new SharedTable.Row(SharedTable.values()[key[1] - '0'], name);
  }

  static byte[] pause(Pause pause) {
    byte[] group = pause.group().getBytes(StandardCharsets.UTF_8);
    // All shards of a topic are -1.
    Shard shard = new Shard(pause.topicId(), pause.shard() + 1);
    return put(ByteBuffer.allocate(9 + group.length).put(PAUSE), shard).put(group).array();
  }

  static byte[] user(String name) {
    return named((char) USER, name);
  }

  static byte[] move(long number) {
    return ByteBuffer.allocate(9).put((byte) 'M').putLong(number).array();
  }

  /** The number of a {@link #move} key. */
  static long moveNumber(byte[] key) {
    return ByteBuffer.wrap(key).getLong(1);
  }

  /** Key of a batch and of its index entry. */
  public static byte[] batch(Shard shard, long baseOffset) {
    return put(ByteBuffer.allocate(16), shard).putLong(baseOffset).array();
  }

  /** The base offset of a {@link #batch} key. */
  public static long offset(byte[] batchKey) {
    return ByteBuffer.wrap(batchKey).getLong(8);
  }

  /** The shard of a {@link #batch} key, or of that of a delayed batch. */
  public static Shard shard(byte[] batchKey) {
    ByteBuffer in = ByteBuffer.wrap(batchKey);
    return new Shard(in.getInt(), in.getInt());
  }

  static byte[] lease(LeaseKey key) {
    return lease(key, 0);
  }

  static byte[] leaseState(LeaseKey key) {
    return lease(key, 1);
  }

  static byte[] failureCounts(LeaseKey key) {
    return lease(key, 2);
  }

  static boolean isFailureCounts(byte[] key) {
    return key[key.length - 1] == 2;
  }

  /** What a {@link #failureCounts} key names. */
  static LeaseKey leaseKey(byte[] key) {
    int group = key.length - 10;
    ByteBuffer in = ByteBuffer.wrap(key, group + 1, 8);
    Shard shard = new Shard(in.getInt(), in.getInt());
    return new LeaseKey(shard, new String(key, 0, group, StandardCharsets.UTF_8));
  }

  static boolean isLeaseState(byte[] key) {
    return key[key.length - 1] == 1;
  }

  private static byte[] lease(LeaseKey key, int part) {
    byte[] prefix = prefix(key);
    return ByteBuffer.allocate(prefix.length + 1).put(prefix).put((byte) part).array();
  }

  /**
   * Of all keys of a group on a shard, in tables LEASES and FAILURES: {@code group 0 topicId
   * shard}.
   */
  static byte[] prefix(LeaseKey key) {
    byte[] group = key.group().getBytes(StandardCharsets.UTF_8);
    return put(ByteBuffer.allocate(group.length + 9).put(group).put((byte) 0), key.shard()).array();
  }

  static byte[] producer(long producerId) {
    return ByteBuffer.allocate(8).putLong(producerId).array();
  }

  static byte[] ring(ProducerShard key) {
    return put(ByteBuffer.allocate(16).putLong(key.producerId()), key.shard()).array();
  }

  static ProducerShard ring(byte[] key) {
    ByteBuffer in = ByteBuffer.wrap(key);
    return new ProducerShard(in.getLong(), new Shard(in.getInt(), in.getInt()));
  }

  static ByteBuffer put(ByteBuffer key, Shard shard) {
    return key.putInt(shard.topicId()).putInt(shard.shard());
  }

  static Shard metaShard(byte[] key) {
    ByteBuffer in = ByteBuffer.wrap(key, 1, 8);
    return new Shard(in.getInt(), in.getInt());
  }
}
