package dev.evenkeel.client.internal.spool.log;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.Bytes;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The bytes of records in a segment.
 *
 * <pre>
 *  0  i32  length of the body, 1 to {@link #BODY_BYTES_MAX}
 *  4  i32  CRC-32C of the length and the body
 *  8  ...  body: u8 type, then what {@link RecordBodies} says of it
 * </pre>
 *
 * A record counts if it is there to its last byte, its checksum matches and its body can be read.
 * The first one that does not is where the segment ends.
 */
public final class RecordFormat {
  public static final int HEADER_BYTES = 8;

  /** Several times what {@link SpoolIntake} collects, so that it can be any frame. */
  public static final int BODY_BYTES_MAX = 16 << 20;

  private RecordFormat() {}

  /** Appends a record. */
  public static void write(Bytes out, SpoolRecord record) {
    int start = out.size();
    out.i32(0).i32(0);
    RecordBodies.RECORD.write(out, record);
    int length = out.size() - start - HEADER_BYTES;
    if (length > BODY_BYTES_MAX) {
      throw new IllegalArgumentException("a record of " + length + " bytes");
    }
    seal(out.view().position(start), length);
  }

  /** Writes the header of the record whose header begins at the buffer's position. */
  static void seal(ByteBuffer whole, int bodyLength) {
    int at = whole.position();
    whole.putInt(at, bodyLength);
    whole.putInt(at + 4, crc(whole, bodyLength));
  }

  /**
   * Bytes of the record at the buffer's position, as far as the bytes there show: those of its
   * header at least.
   *
   * @throws RefusedException CORRUPT if no record has such a length
   */
  public static int size(ByteBuffer in) {
    if (in.remaining() < HEADER_BYTES) {
      return HEADER_BYTES;
    }
    int length = in.getInt(in.position());
    if (length < 1 || length > BODY_BYTES_MAX) {
      throw new RefusedException(Refusal.CORRUPT, "a record cannot have " + length + " bytes");
    }
    return HEADER_BYTES + length;
  }

  /**
   * Reads the record at the buffer's position, and moves the position behind it. Otherwise the
   * position stays.
   *
   * @throws RefusedException CORRUPT, or INVALID if it ends early or its body is malformed
   */
  public static SpoolRecord next(ByteBuffer in) {
    int size = size(in);
    if (in.remaining() < size) {
      throw endsEarly(size, in.remaining());
    }
    int at = in.position();
    int length = size - HEADER_BYTES;
    int expected = in.getInt(at + 4);
    int actual = crc(in.duplicate(), length);
    if (actual != expected) {
      throw new RefusedException(
          Refusal.CORRUPT,
          String.format("the record's CRC-32C is %08x, its header says %08x", actual, expected));
    }
    SpoolRecord record = RecordBodies.RECORD.decodeAll(in.slice(at + HEADER_BYTES, length));
    in.position(at + HEADER_BYTES + length);
    return record;
  }

  static RefusedException endsEarly(int size, int there) {
    return new RefusedException(
        Refusal.INVALID, "a record of " + size + " bytes, of which " + there + " are there");
  }

  /** The whole record begins at the buffer's position. */
  private static int crc(ByteBuffer whole, int bodyLength) {
    int at = whole.position();
    CRC32C crc = new CRC32C();
    crc.update(whole.slice(at, 4));
    crc.update(whole.slice(at + HEADER_BYTES, bodyLength));
    return (int) crc.getValue();
  }
}
