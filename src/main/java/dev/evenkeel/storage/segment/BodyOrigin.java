package dev.evenkeel.storage.segment;

import java.nio.ByteBuffer;

/**
 * What a segment says of the body of an entry beside its bytes.
 *
 * @param term of the log entry
 * @param length of the body in bytes
 * @param crc CRC-32C of the body
 */
public record BodyOrigin(long term, int length, int crc) {
  /** That of a body in memory. */
  public static BodyOrigin of(long term, ByteBuffer body) {
    return new BodyOrigin(term, body.remaining(), RecordHeader.crcOf(body.duplicate()));
  }
}
