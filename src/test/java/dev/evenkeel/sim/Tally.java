package dev.evenkeel.sim;

import java.nio.ByteBuffer;

/**
 * The state that simulated handlers keep of a shard: where it stands, and the sum of all messages
 * before that, in whatever order they came.
 *
 * @param offset the next message
 */
record Tally(long offset, long sum) {
  /** What a message adds: the same for each that handles it, another for each message. */
  static long weight(int topicId, int shard, long offset) {
    long mixed = (topicId * 31L + shard) * 1_000_003L + offset + 1;
    mixed = (mixed ^ mixed >>> 31) * 0x9E3779B97F4A7C15L;
    return mixed ^ mixed >>> 29;
  }

  byte[] encode() {
    return ByteBuffer.allocate(16).putLong(offset).putLong(sum).array();
  }

  static Tally decode(byte[] bytes) {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    return new Tally(in.getLong(), in.getLong());
  }
}
