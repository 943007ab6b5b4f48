package dev.evenkeel.dedup;

import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;

/**
 * The message by which the process of a claim learns that the claim is the head of its key.
 *
 * @param waitsUntilMillis of the claim; it tells which request made it the head
 */
public record HeadMessage(DedupKey key, long token, long waitsUntilMillis) {
  public static HeadMessage of(DedupKey key, Claim head) {
    return new HeadMessage(key, head.token(), head.waitsUntilMillis());
  }

  public byte[] bytes() {
    Bytes out = new Bytes(DedupKey.BYTES + 2 * Long.BYTES);
    SharedCodec.put(out, key);
    return out.i64(token).i64(waitsUntilMillis).toArray();
  }

  /**
   * @throws dev.evenkeel.protocol.RefusedException INVALID for malformed bytes
   */
  public static HeadMessage ofBytes(byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    HeadMessage message = new HeadMessage(new DedupKey(in.i64(), in.i64()), in.i64(), in.i64());
    in.end();
    return message;
  }
}
