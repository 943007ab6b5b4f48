package dev.evenkeel.broker.state;

import dev.evenkeel.wire.ByteReader;
import dev.evenkeel.wire.Bytes;

/**
 * A producer as a data group knows it.
 *
 * @param epoch lower ones are fenced
 * @param formerEpoch the epoch known before, or -1
 * @param usedMillis when it last appended or opened an epoch here
 */
public record ProducerRecord(long id, int epoch, int formerEpoch, long usedMillis) {
  /** One that nobody has heard of. */
  public static ProducerRecord fresh(long id, int epoch, long nowMillis) {
    return new ProducerRecord(id, epoch, -1, nowMillis);
  }

  public ProducerRecord inEpoch(int next, long nowMillis) {
    return new ProducerRecord(id, next, epoch, Math.max(usedMillis, nowMillis));
  }

  public ProducerRecord used(long nowMillis) {
    return nowMillis <= usedMillis ? this : new ProducerRecord(id, epoch, formerEpoch, nowMillis);
  }

  byte[] encode() {
    return new Bytes(24).i64(id).i32(epoch).i32(formerEpoch).i64(usedMillis).toArray();
  }

  static ProducerRecord decode(byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    return new ProducerRecord(in.i64(), in.i32(), in.i32(), in.i64());
  }
}
