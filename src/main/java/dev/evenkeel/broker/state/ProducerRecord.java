package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.ProducerIds;
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
 * @param ownerTag tag of the user who opened it, if its id does not say that; 0: it does, or the
 *     producer has no owner. See {@link ProducerIds}
 */
public record ProducerRecord(
    long id,
    int epoch,
    int formerEpoch,
    long usedMillis,
    @Nullable LeaseKey publisherOf,
    int ownerTag) {
  /** A producer that was unknown until now. */
  public static ProducerRecord fresh(long id, int epoch, int ownerTag, long nowMillis) {
    return new ProducerRecord(id, epoch, -1, nowMillis, null, ownerTag);
  }

  /** A producer under which the handlers of a group on a shard begin to publish. */
  public static ProducerRecord publisher(long id, int epoch, LeaseKey of, long nowMillis) {
    return new ProducerRecord(id, epoch, -1, nowMillis, of, 0);
  }

  public ProducerRecord inEpoch(int next, long nowMillis) {
    return new ProducerRecord(
        id, next, epoch, Math.max(usedMillis, nowMillis), publisherOf, ownerTag);
  }

  public ProducerRecord used(long nowMillis) {
    return nowMillis <= usedMillis
        ? this
        : new ProducerRecord(id, epoch, formerEpoch, nowMillis, publisherOf, ownerTag);
  }

  /**
   * Tag of the user whose producer it is; 0: nobody's.
   *
   * @param ownerTag counts if the id has no tag
   */
  public static int owner(long id, int ownerTag) {
    int tag = ProducerIds.tag(id);
    return tag == 0 ? ownerTag : tag;
  }

  /** Tag of the user whose producer it is; 0: nobody's. */
  public int owner() {
    return owner(id, ownerTag);
  }

  byte[] encode() {
    Bytes out = new Bytes(24).i64(id).i32(epoch).i32(formerEpoch).i64(usedMillis);
    if (publisherOf != null) {
      out.text(publisherOf.group());
      RecordCodec.write(out, publisherOf.shard());
    } else if (ownerTag != 0) {
      out.text(null).i32(ownerTag);
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
    int ownerTag = 0;
    if (in.remaining() > 0) {
      String group = in.text();
      if (group == null) {
        ownerTag = in.i32();
      } else {
        of = new LeaseKey(RecordCodec.shard(in), group);
      }
    }
    return new ProducerRecord(id, epoch, formerEpoch, usedMillis, of, ownerTag);
  }
}
