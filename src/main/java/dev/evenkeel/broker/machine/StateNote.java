package dev.evenkeel.broker.machine;

import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.FeatureLevel;

/**
 * The note that the store keeps beside the applied position: {@code u8 level, u8 form, i64 since,
 * i64 sum}. A note that begins with another level or form may have other bytes behind that.
 *
 * @param level the highest {@link FeatureLevel} of all entries applied: a node needs it to read the
 *     state
 * @param digest null: none yet, or in another form
 */
record StateNote(int level, Digest digest) {
  private static final int BYTES = 18;

  /**
   * See {@link dev.evenkeel.protocol.StateDigest}.
   *
   * @param since index of the first entry that counts
   * @param sum of the digests of all that count
   */
  record Digest(long since, long sum) {}

  byte[] encode() {
    return new Bytes(BYTES)
        .u8(level)
        .u8(DigestHistory.FORM)
        .i64(digest.since())
        .i64(digest.sum())
        .toArray();
  }

  static StateNote decode(byte[] bytes) {
    if (bytes == null) {
      // No entry was applied yet.
      return new StateNote(FeatureLevel.FIRST, null);
    }
    ByteReader in = new ByteReader(bytes);
    int level = in.u8();
    boolean known = in.u8() == DigestHistory.FORM;
    return new StateNote(level, known ? new Digest(in.i64(), in.i64()) : null);
  }
}
