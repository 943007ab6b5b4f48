package dev.evenkeel.protocol.wire;

import static dev.evenkeel.protocol.Refusal.CORRUPT;
import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.TOO_LARGE;
import static dev.evenkeel.protocol.Refusal.WRONG_VERSION;

import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * A view of one batch in its wire form, which is also its form on disk. The broker reads the header
 * only.
 *
 * <pre>
 *  0  u16  magic 0xEB0A
 *  2  u8   version (1)
 *  3  u8   flags: the {@link Compression} of the messages, 0 to 2
 *  4  i32  length of the whole batch in bytes, header included
 *  8  i32  CRC-32C of everything after this field, and then of the flags unless they are 0
 * 12  i64  producer id
 * 20  i32  producer epoch
 * 24  i64  sequence of the first message
 * 32  i32  number of messages
 * 36  i64  timestamp of the first message, milliseconds since 1970
 * 44  i64  largest timestamp
 * 52  ...  messages, see {@link BatchBuilder}; if they are compressed, see {@link BatchPacker}
 * </pre>
 *
 * The offset of the first message is not part of it: the log assigns it, and keeps it beside the
 * batch.
 *
 * @param bytes exactly the batch, from index 0
 */
public record Batch(ByteBuffer bytes) implements BatchHeader {
  static final int MAGIC = 0xEB0A;
  static final int VERSION = 1;
  static final int FLAGS_AT = 3;
  static final int CRC_AT = 8;

  /** The checksum in the header covers everything from here on. */
  public static final int CRC_FROM = 12;

  public static final int HEADER_BYTES = BatchHeader.BYTES;

  /** A message without key, headers and payload. */
  private static final int MESSAGE_BYTES_MIN = 4;

  private static final Compression[] COMPRESSIONS = Compression.values();

  /**
   * Cuts the batch that begins at the buffer's position, and moves the position behind it. Checks
   * magic, version, length and counts, but not the CRC.
   *
   * @throws RefusedException INVALID, WRONG_VERSION or TOO_LARGE, with the reason
   */
  public static Batch next(ByteBuffer in) {
    if (in.remaining() < HEADER_BYTES) {
      throw INVALID.error(
          "truncated batch: " + in.remaining() + " bytes, a header has " + HEADER_BYTES);
    }
    int at = in.position();
    if ((in.getShort(at) & 0xFFFF) != MAGIC) {
      throw INVALID.error("not a batch: it does not begin with EB 0A");
    }
    int version = in.get(at + 2) & 0xFF;
    int flags = in.get(at + FLAGS_AT) & 0xFF;
    if (version != VERSION || flags >= COMPRESSIONS.length) {
      throw WRONG_VERSION.error(
          "batch of version " + version + "." + flags + ": this node speaks " + VERSION);
    }
    int length = in.getInt(at + 4);
    if (length > Limits.BATCH_BYTES_MAX) {
      throw TOO_LARGE.error(
          "batch of " + length + " bytes: at most " + Limits.BATCH_BYTES_MAX + " are allowed");
    }
    if (length < HEADER_BYTES || length > in.remaining()) {
      throw INVALID.error(
          "truncated batch: its length is " + length + ", " + in.remaining() + " bytes are there");
    }
    int count = in.getInt(at + 32);
    boolean fits = flags != 0 || count <= length - HEADER_BYTES;
    if (count < 1 || count > Limits.BATCH_MESSAGES_MAX || !fits) {
      throw INVALID.error("batch with a count of " + count);
    }
    Batch batch = new Batch(in.slice(at, length));
    in.position(at + length);
    return batch;
  }

  /**
   * The batch that all of these bytes are, compared with its checksum.
   *
   * @throws RefusedException as {@link #next} and {@link #verified} do, and CORRUPT if bytes are
   *     left
   */
  public static Batch whole(ByteBuffer bytes) {
    Batch batch = next(bytes);
    if (bytes.hasRemaining()) {
      throw CORRUPT.error("trailing bytes behind the batch");
    }
    return batch.verified();
  }

  /**
   * @throws RefusedException {@link Refusal#CORRUPT} unless the checksum matches
   */
  public Batch verified() {
    int expected = bytes.getInt(CRC_AT);
    int actual = crc(bytes);
    if (expected != actual) {
      throw CORRUPT.error(
          String.format("corrupt batch: CRC-32C is %08x, its header says %08x", actual, expected));
    }
    return this;
  }

  /**
   * Writes another producer, epoch and sequence into the header, and the new checksum. Changes the
   * batch's own bytes.
   */
  public Batch stamped(long producerId, int epoch, long firstSequence) {
    bytes.putLong(12, producerId);
    bytes.putInt(20, epoch);
    bytes.putLong(24, firstSequence);
    bytes.putInt(CRC_AT, crc(bytes));
    return this;
  }

  /**
   * Walks over the messages without making any: the bytes after the header must be as many messages
   * as it says, no more and no less, and each within its limits. A reader of such a batch never
   * fails. A compressed batch is unpacked for that.
   *
   * @throws MalformedException INVALID
   * @throws RefusedException INVALID as {@link #requireLibrary}
   */
  public Batch checkMessages() {
    if (isCompressed()) {
      BatchPacker.check(this);
    } else {
      new BatchWalk(bytes, HEADER_BYTES).overAll(count());
    }
    return this;
  }

  /**
   * @throws RefusedException INVALID, with the Maven dependency to add, if the messages are
   *     compressed and this program lacks the library
   */
  public Batch requireLibrary() {
    if (isCompressed()) {
      BatchPacker.compressor(compression());
    }
    return this;
  }

  /**
   * One message of a batch that is not compressed. It makes no other.
   *
   * @param position 0 for the first
   * @throws MalformedException INVALID if the messages up to there cannot be read
   */
  public Message message(int position) {
    BatchWalk walk = new BatchWalk(bytes, HEADER_BYTES);
    walk.over(position + 1, count());
    return walk.message(firstTimestampMillis());
  }

  static int crc(ByteBuffer batch) {
    CRC32C crc = new CRC32C();
    crc.update(batch.slice(CRC_FROM, batch.limit() - CRC_FROM));
    int flags = batch.get(FLAGS_AT);
    if (flags != 0) {
      crc.update(flags);
    }
    return (int) crc.getValue();
  }

  static MalformedException malformed(String what) {
    return new MalformedException(INVALID, "malformed batch: " + what);
  }

  public Compression compression() {
    return COMPRESSIONS[bytes.get(FLAGS_AT)];
  }

  public boolean isCompressed() {
    return bytes.get(FLAGS_AT) != 0;
  }

  /**
   * The length of the messages of a compressed batch when they are unpacked.
   *
   * @throws MalformedException INVALID if that cannot be the length of so many messages
   */
  int statedBytes() {
    if (length() <= BatchPacker.BLOCK_AT) {
      throw malformed("it is compressed and has " + length() + " bytes");
    }
    int stated = bytes.getInt(HEADER_BYTES);
    if (stated < (long) MESSAGE_BYTES_MIN * count() || stated > Limits.BATCH_BYTES_MAX) {
      throw malformed(
          String.format(
              "unpacked, its %d messages would have %d bytes: at most %d are allowed, and at least"
                  + " %d a message are needed",
              count(), stated, Limits.BATCH_BYTES_MAX, MESSAGE_BYTES_MIN));
    }
    return stated;
  }

  /** The bytes of the batch in memory once it is unpacked; of a malformed one, its own length. */
  public int unpackedLength() {
    try {
      return isCompressed() ? HEADER_BYTES + statedBytes() : length();
    } catch (MalformedException malformed) {
      return length();
    }
  }

  /**
   * The messages, as {@link BatchBuilder} writes them. Everything that reads messages begins here.
   *
   * @throws MalformedException INVALID if they cannot be unpacked
   * @throws RefusedException INVALID as {@link #requireLibrary}
   */
  ByteBuffer messages() {
    return isCompressed()
        ? BatchPacker.unpack(this)
        : bytes.slice(HEADER_BYTES, length() - HEADER_BYTES);
  }

  /**
   * Walks over the messages, of which it makes no objects. A compressed batch is unpacked for that.
   *
   * @throws MalformedException INVALID if they cannot be unpacked
   * @throws RefusedException INVALID as {@link #requireLibrary}
   */
  public BatchWalk walk() {
    return new BatchWalk(messages(), 0);
  }

  /**
   * Writes some messages of this batch, one behind the other, as a batch of their own that is not
   * compressed. Their timestamps stay the same.
   *
   * @param walk has walked over this batch
   * @param first position of the first of them
   * @param count how many they are
   * @param from where they begin in the bytes of the walk
   * @param to where they end there
   */
  public void writePart(ByteBuffer out, BatchWalk walk, int first, int count, int from, int to) {
    int at = out.position();
    int length = HEADER_BYTES + to - from;
    out.put(bytes.slice(0, HEADER_BYTES)).put(walk.bytes(), from, to - from);
    ByteBuffer part = out.slice(at, length);
    part.put(FLAGS_AT, (byte) 0).putInt(4, length);
    part.putLong(24, firstSequence() + first).putInt(32, count);
    part.putInt(CRC_AT, crc(part));
  }

  /**
   * Reads the messages one after another, and unpacks them first if they are compressed. Call
   * {@link #verified()} once before.
   *
   * @throws RefusedException INVALID as {@link #requireLibrary}
   */
  public BatchReader reader(long baseOffset) {
    return new BatchReader(this, baseOffset);
  }
}
