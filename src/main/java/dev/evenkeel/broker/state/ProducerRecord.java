package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.RecordCodec;
import org.jspecify.annotations.Nullable;

/**
 * A producer as a data log group knows it.
 *
 * @param epoch lower ones are fenced
 * @param formerEpoch the epoch known before, or -1
 * @param usedMillis {@link LogTime} when it last appended or opened an epoch here
 * @param publisherOf the group and shard whose handlers publish under it; null: an ordinary
 *     producer. A publisher's sequences have gaps and continue from epoch to epoch
 */
public record ProducerRecord(
    long id, int epoch, int formerEpoch, long usedMillis, @Nullable LeaseKey publisherOf) {
  /** A producer that was unknown until now. */
  public static ProducerRecord fresh(long id, int epoch, long nowMillis) {
    return new ProducerRecord(id, epoch, -1, nowMillis, null);
  }

  /** A producer under which the handlers of a group on a shard begin to publish. */
  public static ProducerRecord publisher(long id, int epoch, LeaseKey of, long nowMillis) {
    return new ProducerRecord(id, epoch, -1, nowMillis, of);
  }

  public ProducerRecord inEpoch(int next, long nowMillis) {
    return new ProducerRecord(id, next, epoch, Math.max(usedMillis, nowMillis), publisherOf);
  }

  public ProducerRecord used(long nowMillis) {
    return nowMillis <= usedMillis
        ? this
        : new ProducerRecord(id, epoch, formerEpoch, nowMillis, publisherOf);
  }

  byte[] encode() {
    Bytes out = new Bytes(24).i64(id).i32(epoch).i32(formerEpoch).i64(usedMillis);
    if (publisherOf != null) {
      out.text(publisherOf.group());
      RecordCodec.write(out, publisherOf.shard());
    }
    return out.toArray();
  }

  static ProducerRecord decode(byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    long id = in.i64();
    int epoch = in.i32();
    int formerEpoch = in.i32();
    long usedMillis = in.i64();
    LeaseKey of = null;
    if (in.remaining() > 0) {
      String group = in.neededText();
      of = new LeaseKey(RecordCodec.shard(in), group);
    }
    return new ProducerRecord(id, epoch, formerEpoch, usedMillis, of);
  }
}
