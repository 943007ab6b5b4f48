package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;

/**
 * Where a batch lies: in its shard, and in the log. All but {@code bytes} and its place grow from
 * batch to batch, which is what makes binary search by time and by size possible.
 *
 * @param base offset of its first message
 * @param last offset of its last message
 * @param maxTimestamp largest timestamp of the shard up to here
 * @param appendMillis {@link LogTime} of its append, never before that of the batch in front
 * @param bytes its length
 * @param position bytes of the shard in front of it, dropped ones included
 * @param place where its bytes are
 */
public record IndexEntry(
    long base,
    long last,
    long maxTimestamp,
    long appendMillis,
    int bytes,
    long position,
    BatchPlace place) {

  /** Offset behind its last message. */
  public long end() {
    return last + 1;
  }

  byte[] encode() {
    Bytes out =
        new Bytes(52).i64(last).i64(maxTimestamp).i64(appendMillis).i32(bytes).i64(position);
    return place.write(out).toArray();
  }

  public static IndexEntry decode(byte[] key, byte[] value) {
    ByteReader in = new ByteReader(value);
    return new IndexEntry(
        Keys.offset(key), in.i64(), in.i64(), in.i64(), in.i32(), in.i64(), BatchPlace.read(in));
  }
}
