package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;

/**
 * Where the bytes of a batch are: in the body of the log entry that brought it. It is the same on
 * every replica, whatever files hold the bodies.
 *
 * @param index of the log entry
 * @param at where the batch begins in the body
 * @param crc the checksum in the batch's header
 */
public record BatchPlace(long index, int at, int crc) {
  Bytes write(Bytes out) {
    return out.i64(index).i32(at).i32(crc);
  }

  static BatchPlace read(ByteReader in) {
    return new BatchPlace(in.i64(), in.i32(), in.i32());
  }
}
