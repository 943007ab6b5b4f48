package dev.evenkeel.storage.segment;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * What stands in a segment before the body of a log entry.
 *
 * <pre>
 *  0  i32  magic 0xEB5E6001; its last byte is the version of the format. 0xEB5E6002: the record has
 *          a part of the body
 *  4  i32  CRC-32C of the 28 bytes that follow
 *  8  i64  index of the log entry
 * 16  i64  term of the log entry
 * 24  i32  length of the body in bytes
 * 28  i32  CRC-32C of the body
 * 32  i32  reserved, 0
 * 36  ...  body
 * </pre>
 *
 * @param index of the log entry, 0 or more
 * @param term of the log entry, 0 or more
 * @param length of the body in bytes, 1 or more
 * @param crc CRC-32C of the body
 * @param partial whether the record has what was left of the body when it was rewritten; length and
 *     checksum are those of that
 */
public record RecordHeader(long index, long term, int length, int crc, boolean partial) {
  static final int BYTES = 36;
  static final int MAGIC = 0xEB5E6001;
  private static final int MAGIC_PARTIAL = 0xEB5E6002;
  private static final int CRC_AT = 4;
  private static final int CRC_FROM = 8;

  /** What stands before a whole body in memory. */
  public static RecordHeader of(long index, long term, ByteBuffer body) {
    return new RecordHeader(index, term, body.remaining(), crcOf(body.duplicate()), false);
  }

  void write(ByteBuffer out) {
    int at = out.position();
    out.putInt(partial ? MAGIC_PARTIAL : MAGIC).putInt(0).putLong(index).putLong(term);
    out.putInt(length).putInt(crc).putInt(0);
    out.putInt(at + CRC_AT, crcOf(out.slice(at + CRC_FROM, BYTES - CRC_FROM)));
  }

  /** The header that begins at {@code at}, or null if there is none or it is damaged. */
  static RecordHeader read(ByteBuffer in, int at) {
    int magic = in.limit() - at < BYTES ? 0 : in.getInt(at);
    if (magic != MAGIC && magic != MAGIC_PARTIAL
        || in.getInt(at + CRC_AT) != crcOf(in.slice(at + CRC_FROM, BYTES - CRC_FROM))) {
      return null;
    }
    RecordHeader header =
        new RecordHeader(
            in.getLong(at + 8),
            in.getLong(at + 16),
            in.getInt(at + 24),
            in.getInt(at + 28),
            magic == MAGIC_PARTIAL);
    return header.index < 0 || header.term < 0 || header.length < 1 ? null : header;
  }

  static int crcOf(ByteBuffer bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return (int) crc.getValue();
  }
}
