package dev.evenkeel.protocol.wire;

import java.nio.ByteBuffer;

/**
 * The header of a batch, as {@link Batch} describes it. All that a node needs to know to take a
 * batch.
 */
public interface BatchHeader {
  /** Number of bytes before the messages. */
  int BYTES = 52;

  /** Begins with the header; what follows may be missing. */
  ByteBuffer bytes();

  /** A header without its messages. */
  static BatchHeader of(ByteBuffer bytes) {
    record Alone(ByteBuffer bytes) implements BatchHeader {}
    return new Alone(bytes);
  }

  /** Length of the whole batch in bytes. */
  default int length() {
    return bytes().getInt(4);
  }

  /** CRC-32C of the batch from byte {@link Batch#CRC_FROM} on. */
  default int crc() {
    return bytes().getInt(Batch.CRC_AT);
  }

  default long producerId() {
    return bytes().getLong(12);
  }

  default int producerEpoch() {
    return bytes().getInt(20);
  }

  default long firstSequence() {
    return bytes().getLong(24);
  }

  /** Number of messages. */
  default int count() {
    return bytes().getInt(32);
  }

  default long firstTimestampMillis() {
    return bytes().getLong(36);
  }

  default long maxTimestampMillis() {
    return bytes().getLong(44);
  }
}
