package dev.evenkeel.storage.segment;

import dev.evenkeel.util.files.PrivateFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * Where the records of one segment lie, in the order of their log indices. One thread adds; any may
 * look up, and sees whole rows only.
 *
 * <p>The table of a sealed segment is a file beside it, which is mapped:
 *
 * <pre>
 *  0  i32  magic 0xEB5E6101; its last byte is the version of the format
 *  4  i32  CRC-32C of everything that follows
 *  8  i64  length of the segment in bytes
 * 16  i32  number of rows
 * 20  i32  reserved, 0
 * 24  ...  rows: i64 index of the log entry, i32 position of the record, i32 length of its body,
 *          negative if the record has a part of the body
 * </pre>
 */
final class RecordTable {
  private static final int MAGIC = 0xEB5E6101;
  private static final int HEADER_BYTES = 24;
  private static final int ROW_BYTES = 16;
  private static final int READ_BYTES = 64 << 10;

  /** Rows as in the file; replaced by a larger one when it is full, or by a mapped one. */
  private volatile ByteBuffer rows;

  private volatile int count;

  /** Null unless the rows are those of a mapped file. */
  private volatile Mapped mapped;

  /**
   * A mapped file, and what it said when it was mapped: its bytes change if the disk damages them.
   */
  private record Mapped(Path path, ByteBuffer file, int crc, long firstIndex, long lastIndex) {
    static Mapped of(Path path, ByteBuffer file, int count) {
      int last = HEADER_BYTES + (count - 1) * ROW_BYTES;
      return new Mapped(
          path,
          file,
          file.getInt(4),
          count == 0 ? -1 : file.getLong(HEADER_BYTES),
          count == 0 ? -1 : file.getLong(last));
    }

    ByteBuffer rows() {
      return file.slice(HEADER_BYTES, file.capacity() - HEADER_BYTES);
    }

    boolean isSound() throws IOException {
      ByteBuffer header = header(path);
      return header != null && header.getInt(4) == crc;
    }
  }

  RecordTable() {
    rows = ByteBuffer.allocate(64 * ROW_BYTES);
  }

  private RecordTable(Mapped mapped, int count) {
    this.mapped = mapped;
    this.count = count;
    rows = mapped.rows();
  }

  /** Adds a record. Rows of its index and of higher ones are forgotten: it replaces them. */
  void add(long index, int position, int length, boolean partial) {
    int at = count;
    if (at > 0 && index(at - 1) >= index) {
      at = firstAtLeast(index);
      // Whoever looks up now must not see a row that is half replaced.
      ByteBuffer copy = ByteBuffer.allocate(rows.capacity());
      copy.put(0, rows, 0, at * ROW_BYTES);
      count = at;
      rows = copy;
    } else if ((at + 1) * ROW_BYTES > rows.capacity()) {
      rows = ByteBuffer.wrap(Arrays.copyOf(rows.array(), 2 * rows.capacity()));
    }
    rows.putLong(at * ROW_BYTES, index);
    rows.putInt(at * ROW_BYTES + 8, position);
    rows.putInt(at * ROW_BYTES + 12, partial ? -length : length);
    count = at + 1;
  }

  int count() {
    return count;
  }

  long index(int row) {
    return rows.getLong(row * ROW_BYTES);
  }

  /** Index of the first record, also if the file has been damaged since. */
  long firstIndex() {
    Mapped file = mapped;
    return file == null ? index(0) : file.firstIndex();
  }

  /** Index of the last record, also if the file has been damaged since. */
  long lastIndex() {
    Mapped file = mapped;
    return file == null ? index(count - 1) : file.lastIndex();
  }

  /** Whether the file still says what it said when it was mapped. */
  boolean isSound() throws IOException {
    Mapped file = mapped;
    return file == null || file.isSound();
  }

  int position(int row) {
    return rows.getInt(row * ROW_BYTES + 8);
  }

  /** Length of what the record has. */
  int length(int row) {
    return Math.abs(rows.getInt(row * ROW_BYTES + 12));
  }

  /** Whether the record has a part of the body only. */
  boolean isPartial(int row) {
    return rows.getInt(row * ROW_BYTES + 12) < 0;
  }

  /** The row of an index, or -1. */
  int row(long index) {
    int row = firstAtLeast(index);
    return row < count && index(row) == index ? row : -1;
  }

  /** The first row with this index or a higher one; the number of rows if there is none. */
  int firstAtLeast(long index) {
    int low = 0;
    int high = count;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (index(middle) < index) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** Forgets all rows from this one on. */
  void cut(int row) {
    mapped = null;
    count = row;
  }

  /** Writes the table to a file, for a segment of this length, and maps it from now on. */
  void seal(Path file, long segmentBytes) throws IOException {
    ByteBuffer out = ByteBuffer.allocate(HEADER_BYTES + count * ROW_BYTES);
    out.putInt(MAGIC).putInt(0).putLong(segmentBytes).putInt(count).putInt(0);
    out.put(HEADER_BYTES, rows, 0, count * ROW_BYTES);
    out.putInt(4, RecordHeader.crcOf(out.slice(8, out.capacity() - 8)));
    out.clear();
    Path temp = file.resolveSibling(file.getFileName() + ".tmp");
    try (FileChannel channel =
        PrivateFiles.open(
            temp,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      while (out.hasRemaining()) {
        channel.write(out);
      }
      channel.force(true);
    }
    Files.move(temp, file, StandardCopyOption.ATOMIC_MOVE);
    Mapped whole = Mapped.of(file, map(file), count);
    rows = whole.rows();
    mapped = whole;
  }

  /** The table in a file, or null if it is not that of a segment of this length. */
  static RecordTable load(Path file, long segmentBytes) throws IOException {
    ByteBuffer header = header(file);
    if (header == null || header.getLong(8) != segmentBytes) {
      return null;
    }
    int count = header.getInt(16);
    ByteBuffer in = map(file);
    return in.capacity() == HEADER_BYTES + (long) count * ROW_BYTES
        ? new RecordTable(Mapped.of(file, in, count), count)
        : null;
  }

  /**
   * The header of a table; null if there is no such file, or it is damaged. It is read, not mapped:
   * a mapped page that the disk cannot read may end the process.
   */
  private static ByteBuffer header(Path file) throws IOException {
    try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ)) {
      ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
      ByteBuffer part = ByteBuffer.allocate(READ_BYTES);
      CRC32C crc = new CRC32C();
      in.read(header, 0);
      for (long at = 8; in.read(part.clear(), at) > 0; at += part.limit()) {
        crc.update(part.flip());
      }
      boolean sound =
          !header.hasRemaining()
              && header.getInt(0) == MAGIC
              && header.getInt(4) == (int) crc.getValue();
      return sound ? header : null;
    } catch (NoSuchFileException gone) {
      return null;
    } catch (IOException e) {
      if (Segment.isUnreadable(e)) {
        return null;
      }
      throw e;
    }
  }

  private static ByteBuffer map(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
    }
  }
}
