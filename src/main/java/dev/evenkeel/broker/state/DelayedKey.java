package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.Shard;
import java.nio.ByteBuffer;

/**
 * Where a delayed batch waits: {@code i32 topicId, i32 shard, i64 due, i64 serial}, so that those
 * of a shard lie in the order in which they get their offsets, and go together with the shard.
 *
 * @param dueMillis milliseconds since 1970
 * @param serial higher than that of every batch of the shard that came before and waits still
 */
public record DelayedKey(Shard shard, long dueMillis, long serial) {

  public byte[] bytes() {
    return Keys.put(ByteBuffer.allocate(24), shard).putLong(dueMillis).putLong(serial).array();
  }

  public static DelayedKey of(byte[] key) {
    ByteBuffer in = ByteBuffer.wrap(key);
    return new DelayedKey(new Shard(in.getInt(), in.getInt()), in.getLong(), in.getLong());
  }

  /** Before every key of the shard. */
  public static byte[] first(Shard shard) {
    return new DelayedKey(shard, 0, 0).bytes();
  }

  /** Behind every key of the shard. */
  public static byte[] last(Shard shard) {
    return new DelayedKey(shard, Long.MAX_VALUE, Long.MAX_VALUE).bytes();
  }
}
