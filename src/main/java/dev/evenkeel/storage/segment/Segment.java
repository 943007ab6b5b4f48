package dev.evenkeel.storage.segment;

import dev.evenkeel.util.files.DurableFiles;
import dev.evenkeel.util.files.PrivateFiles;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One file of record after record, each a {@link RecordHeader} and a body. One thread writes; any
 * may read what has been written.
 */
final class Segment implements Closeable {
  static final String SUFFIX = ".seg";

  /** Smaller pieces are joined into one write. */
  private static final int JOINED_BYTES_MAX = 128 << 10;

  private static final int WRITE_BYTES_MAX = 1 << 20;
  private static final String TABLE_SUFFIX = ".idx";

  /** What the name of a segment tells; a rewritten one keeps its number in the next generation. */
  record Name(long number, int generation) implements Comparable<Name> {
    private static final Pattern FORM = Pattern.compile("(\\d{12})-(\\d+)\\" + SUFFIX);
    private static final Comparator<Name> ORDER =
        Comparator.comparingLong(Name::number).thenComparingInt(Name::generation);

    /** The name of a file, or null if it is not that of a segment. */
    static Name of(Path file) {
      Matcher matcher = FORM.matcher(file.getFileName().toString());
      return matcher.matches()
          ? new Name(Long.parseLong(matcher.group(1)), Integer.parseInt(matcher.group(2)))
          : null;
    }

    Name next() {
      return new Name(number, generation + 1);
    }

    Path in(Path directory, String suffix) {
      return directory.resolve(String.format("%012d-%d%s", number, generation, suffix));
    }

    @Override
    public int compareTo(Name other) {
      return ORDER.compare(this, other);
    }
  }

  private final Name name;
  private final Path path;
  private final RecordTable table;
  private final Path tablePath;
  private final FilePool files;
  private volatile long bytes;
  private volatile boolean sealed;

  /** For writing; null if nothing has been written in this run. */
  private FileChannel out;

  private Segment(Path directory, Name name, RecordTable table, long bytes, FilePool files) {
    this.name = name;
    this.files = files;
    path = name.in(directory, SUFFIX);
    tablePath = name.in(directory, TABLE_SUFFIX);
    this.table = table == null ? new RecordTable() : table;
    this.bytes = bytes;
    sealed = table != null;
  }

  /** A new segment, open for writing. */
  static Segment create(Path directory, Name name, FilePool files) throws IOException {
    Segment segment = new Segment(directory, name, null, 0, files);
    segment.out =
        PrivateFiles.open(segment.path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    return segment;
  }

  /**
   * Opens a segment of a former run. One without a table that fits is scanned: records whose header
   * is damaged are not found, and those above {@code flushedIndex} must have the body that their
   * header tells of.
   */
  static Segment open(Path directory, Name name, long flushedIndex, FilePool files)
      throws IOException {
    long bytes = Files.size(name.in(directory, SUFFIX));
    RecordTable table = RecordTable.load(name.in(directory, TABLE_SUFFIX), bytes);
    Segment segment = new Segment(directory, name, table, bytes, files);
    if (table == null) {
      segment.scan(flushedIndex, segment.table);
    }
    return segment;
  }

  /** Whether a file is a table without its segment, or a part of a table. */
  static boolean isLeftover(Path file) {
    String name = file.getFileName().toString();
    String stem = name.substring(0, name.length() - Math.min(name.length(), 4));
    return name.endsWith(TABLE_SUFFIX + ".tmp")
        || name.endsWith(TABLE_SUFFIX) && !Files.exists(file.resolveSibling(stem + SUFFIX));
  }

  /** Looks for the records in the file itself. Those whose header is damaged are not found. */
  RecordTable found() throws IOException {
    RecordTable found = new RecordTable();
    scan(Long.MAX_VALUE, found);
    return found;
  }

  private void scan(long flushedIndex, RecordTable into) throws IOException {
    if (bytes == 0) {
      return;
    }
    try (SegmentWindow file = new SegmentWindow(path)) {
      int at = 0;
      while (at + RecordHeader.BYTES <= bytes) {
        ByteBuffer begin = file.read(at, RecordHeader.BYTES);
        RecordHeader header = begin == null ? null : RecordHeader.read(begin, 0);
        if (header == null) {
          at = begin == null ? SegmentWindow.behindUnreadable(at) : at + 1;
          continue;
        }
        int body = at + RecordHeader.BYTES;
        boolean whole = header.length() <= bytes - body;
        if (whole && header.index() > flushedIndex) {
          ByteBuffer stored = file.read(body, header.length());
          whole = stored != null && RecordHeader.crcOf(stored) == header.crc();
        }
        if (whole) {
          into.add(header.index(), at, header.length(), header.partial());
          at = body + header.length();
        } else {
          at++;
        }
      }
    }
  }

  Name name() {
    return name;
  }

  Path path() {
    return path;
  }

  RecordTable table() {
    return table;
  }

  /** Length of the file. */
  long bytes() {
    return bytes;
  }

  boolean sealed() {
    return sealed;
  }

  long firstIndex() {
    return table.firstIndex();
  }

  long lastIndex() {
    return table.lastIndex();
  }

  /** Appends records in one write. {@code buffers} are their headers and bodies, one by one. */
  void write(ByteBuffer[] buffers) throws IOException {
    long at = bytes;
    out.position(at);
    long all = 0;
    for (ByteBuffer buffer : buffers) {
      all += buffer.remaining();
    }
    ByteBuffer joined = null;
    for (ByteBuffer buffer : buffers) {
      if (joined != null && joined.remaining() < buffer.remaining()) {
        writeAll(joined.flip());
        joined.clear();
      }
      if (buffer.remaining() > JOINED_BYTES_MAX) {
        writeAll(buffer);
        continue;
      }
      if (joined == null) {
        joined = ByteBuffer.allocate((int) Math.min(all, JOINED_BYTES_MAX));
      }
      joined.put(buffer);
    }
    if (joined != null) {
      writeAll(joined.flip());
    }
    bytes = at + all;
  }

  /** The channel takes memory outside the heap for as much as it gets at once, and keeps it. */
  private void writeAll(ByteBuffer buffer) throws IOException {
    int limit = buffer.limit();
    while (buffer.position() < limit) {
      buffer.limit(Math.min(limit, buffer.position() + WRITE_BYTES_MAX));
      out.write(buffer);
    }
  }

  void force() throws IOException {
    if (out != null) {
      out.force(false);
    }
  }

  /** Writes the table beside the segment. No more is appended. Call {@link #force} before. */
  void seal() throws IOException {
    table.seal(tablePath, bytes);
    sealed = true;
    closeOut();
  }

  /**
   * Drops all records behind those of the first {@code rows} rows, and what lies between. Nothing
   * is appended any more, so that other links to the file keep the records that stay.
   */
  void cut(int rows) throws IOException {
    long end = rows == 0 ? 0 : end(rows - 1);
    if (sealed && end == bytes) {
      return;
    }
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
      file.truncate(end);
      file.force(true);
    }
    bytes = end;
    table.cut(rows);
    Files.deleteIfExists(tablePath);
    sealed = false;
  }

  private long end(int row) {
    return (long) table.position(row) + RecordHeader.BYTES + table.length(row);
  }

  /** What stands before a body; null if it is damaged, or that of another entry. */
  RecordHeader header(int row) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(RecordHeader.BYTES);
    read(table.position(row), bytes);
    RecordHeader header = RecordHeader.read(bytes.flip(), 0);
    return header == null || header.index() != table.index(row) ? null : header;
  }

  /** What a record has, compared with its checksum; null if it is damaged. */
  ByteBuffer whole(int row) throws IOException {
    RecordHeader header = header(row);
    if (header == null || header.partial() != table.isPartial(row)) {
      return null;
    }
    ByteBuffer content = ByteBuffer.allocate(header.length());
    readBody(row, 0, content);
    return RecordHeader.crcOf(content.flip().slice()) == header.crc() ? content : null;
  }

  /** Whether a record is as it was written. */
  boolean isWhole(int row) throws IOException {
    if (table.length(row) < 1 || table.position(row) < 0 || end(row) > bytes) {
      return false;
    }
    ByteBuffer record = ByteBuffer.allocate(RecordHeader.BYTES + table.length(row));
    try {
      read(table.position(row), record);
    } catch (IOException e) {
      if (isUnreadable(e)) {
        return false;
      }
      throw e;
    }
    RecordHeader header = RecordHeader.read(record.flip(), 0);
    return header != null
        && header.index() == table.index(row)
        && header.length() == table.length(row)
        && header.partial() == table.isPartial(row)
        && header.crc() == RecordHeader.crcOf(record.slice(RecordHeader.BYTES, header.length()));
  }

  /** Whether a failure to read says that the file is damaged: it ends early, or the disk fails. */
  static boolean isUnreadable(IOException failure) {
    return failure instanceof EOFException
        || String.valueOf(failure.getMessage()).contains("Input/output error");
  }

  /**
   * Copies a record to the end of another segment, as it is; nothing if the disk cannot read it.
   *
   * @param places where the records of this segment are
   */
  void copyIfReadable(Segment target, RecordTable places, int row) throws IOException {
    ByteBuffer record = ByteBuffer.allocate(RecordHeader.BYTES + places.length(row));
    try {
      read(places.position(row), record);
    } catch (IOException e) {
      if (isUnreadable(e)) {
        return;
      }
      throw e;
    }
    target.add(places.index(row), places.length(row), places.isPartial(row), record.flip());
  }

  /** Appends one record. */
  void add(long index, int length, boolean partial, ByteBuffer... record) throws IOException {
    long position = bytes;
    write(record);
    table.add(index, (int) position, length, partial);
  }

  /** Fills {@code into} with bytes of a body, beginning {@code offset} bytes into it. */
  void readBody(int row, int offset, ByteBuffer into) throws IOException {
    read(table.position(row) + RecordHeader.BYTES + (long) offset, into);
  }

  /** Fills {@code into} with bytes of the file. */
  void read(long from, ByteBuffer into) throws IOException {
    if (from < 0) {
      throw new EOFException(path + " has nothing at " + from + ": its table is damaged");
    }
    long at = from;
    while (into.hasRemaining()) {
      int got = files.read(path, into, at);
      if (got < 0) {
        throw new EOFException(path + " ends at " + at + ", " + into.remaining() + " bytes early");
      }
      at += got;
    }
  }

  private void closeOut() throws IOException {
    if (out != null) {
      out.close();
      out = null;
    }
  }

  /** Gives the file handles back; the next reader opens the file again. */
  @Override
  public void close() throws IOException {
    closeOut();
    files.close(path);
  }

  /** Whether the file of this name in another directory is this one. */
  boolean isLinkedIn(Path other) throws IOException {
    Path there = name.in(other, SUFFIX);
    return Files.exists(there) && Files.isSameFile(there, path);
  }

  /** Links the files into another directory, as they are now; they must not be written to again. */
  void link(Path target) throws IOException {
    link(path.getParent(), name, target);
  }

  /** Links the files of a segment that need not be open. */
  static void link(Path from, Name name, Path target) throws IOException {
    DurableFiles.link(name.in(from, SUFFIX), name.in(target, SUFFIX));
    Path table = name.in(from, TABLE_SUFFIX);
    if (Files.exists(table)) {
      DurableFiles.link(table, name.in(target, TABLE_SUFFIX));
    }
  }

  /** The files go first: a reader that opens them anew would keep their space. */
  void delete() throws IOException {
    closeOut();
    Files.deleteIfExists(tablePath);
    Files.deleteIfExists(path);
    files.close(path);
  }
}
