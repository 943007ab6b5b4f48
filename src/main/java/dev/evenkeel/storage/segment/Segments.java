package dev.evenkeel.storage.segment;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.LongPredicate;
import java.util.stream.Stream;

/**
 * The bodies of a log group's entries: append-only files, in the order of the log. An entry that is
 * appended at an index that is there already replaces that one and all with higher indices, as a
 * log does in which another leader's entries take the place of uncommitted ones; their bytes stay
 * behind as dead ones.
 *
 * <p>One thread writes; any may read.
 */
public final class Segments implements Closeable {
  /** Positions in a segment are ints. */
  private static final long SEGMENT_BYTES_HARD_MAX = 1L << 30;

  private final Path directory;
  private final long segmentBytesMax;

  /** By the index of the first record. The last one is written to. */
  private final ConcurrentSkipListMap<Long, Segment> segments = new ConcurrentSkipListMap<>();

  private Segment current;
  private long nextNumber;
  private boolean dirty;

  /**
   * The body of one log entry.
   *
   * @param parts its bytes, one behind the other; at least one byte
   */
  public record Body(long term, long index, List<ByteBuffer> parts) {
    int length() {
      int length = 0;
      for (ByteBuffer part : parts) {
        length += part.remaining();
      }
      return length;
    }

    private RecordHeader header() {
      java.util.zip.CRC32C crc = new java.util.zip.CRC32C();
      parts.forEach(part -> crc.update(part.duplicate()));
      return new RecordHeader(index, term, length(), (int) crc.getValue());
    }
  }

  private Segments(Path directory, long segmentBytesMax) {
    this.directory = directory;
    this.segmentBytesMax = segmentBytesMax;
  }

  /**
   * Opens the segments in a directory, which is made if it is missing.
   *
   * @param segmentBytesMax a segment that has as many bytes is followed by a new one; at most 1 GiB
   * @param flushedIndex entries up to this one had been flushed when the node stopped, maybe more;
   *     bodies above it count only if they are whole
   * @throws IllegalArgumentException if a segment would be too large
   */
  public static Segments open(Path directory, long segmentBytesMax, long flushedIndex)
      throws IOException {
    if (segmentBytesMax < 1 || segmentBytesMax > SEGMENT_BYTES_HARD_MAX) {
      throw new IllegalArgumentException(
          "segments of "
              + segmentBytesMax
              + " bytes: 1 to "
              + SEGMENT_BYTES_HARD_MAX
              + " are possible");
    }
    Files.createDirectories(directory);
    Segments opened = new Segments(directory, segmentBytesMax);
    for (Segment.Name name : opened.names()) {
      opened.openOne(name, flushedIndex);
    }
    return opened;
  }

  private List<Segment.Name> names() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(Segment.Name::of).filter(Objects::nonNull).sorted().toList();
    }
  }

  private void openOne(Segment.Name name, long flushedIndex) throws IOException {
    Segment segment = Segment.open(directory, name, flushedIndex);
    nextNumber = name.number() + 1;
    // A rewritten segment gets its table when all of it is on disk.
    boolean whole = segment.sealed() || name.generation() == 0;
    if (!whole || segment.table().count() == 0) {
      segment.delete();
      return;
    }
    for (Segment former : List.copyOf(segments.values())) {
      if (former.name().number() == name.number()) {
        segments.values().remove(former);
        former.delete();
      }
    }
    put(segment);
  }

  /** Segments whose records are all replaced by those of a new one go. */
  private synchronized void put(Segment segment) throws IOException {
    Map<Long, Segment> replaced = segments.tailMap(segment.firstIndex(), true);
    for (Segment each : List.copyOf(replaced.values())) {
      each.delete();
    }
    replaced.clear();
    segments.put(segment.firstIndex(), segment);
  }

  /** Appends bodies, in the order of their indices or with lower ones that replace others. */
  public void append(List<Body> bodies) throws IOException {
    int from = 0;
    while (from < bodies.size()) {
      from = appendSome(bodies, from);
    }
  }

  private int appendSome(List<Body> bodies, int from) throws IOException {
    if (current == null || current.bytes() >= segmentBytesMax) {
      roll();
    }
    List<ByteBuffer> buffers = new ArrayList<>();
    List<RecordHeader> headers = new ArrayList<>();
    long end = current.bytes();
    int to = from;
    while (to < bodies.size() && (to == from || end < segmentBytesMax)) {
      RecordHeader header = bodies.get(to).header();
      ByteBuffer bytes = ByteBuffer.allocate(RecordHeader.BYTES);
      header.write(bytes);
      buffers.add(bytes.flip());
      bodies.get(to).parts().forEach(part -> buffers.add(part.duplicate()));
      headers.add(header);
      end += RecordHeader.BYTES + header.length();
      to++;
    }
    long position = current.bytes();
    current.write(buffers.toArray(ByteBuffer[]::new));
    dirty = true;
    for (RecordHeader header : headers) {
      boolean first = current.table().count() == 0;
      current.table().add(header.index(), (int) position, header.length());
      position += RecordHeader.BYTES + header.length();
      if (first) {
        put(current);
      } else if (current.table().count() == 1) {
        replaceFirst();
      }
    }
    return to;
  }

  /** The current segment's first record was replaced by one with a lower or the same index. */
  private void replaceFirst() throws IOException {
    segments.values().remove(current);
    put(current);
  }

  private void roll() throws IOException {
    if (current != null && current.bytes() == 0) {
      return;
    }
    force();
    for (Segment segment : segments.descendingMap().values()) {
      if (segment.sealed()) {
        break;
      }
      segment.seal();
    }
    current = Segment.create(directory, new Segment.Name(nextNumber++, 0));
    forceDirectory();
    dirty = true;
  }

  /** Makes everything that was appended survive a crash of the machine. */
  public void force() throws IOException {
    if (dirty) {
      current.force();
      dirty = false;
    }
  }

  /** Drops the bodies of all entries above {@code index}. */
  public void cutAfter(long index) throws IOException {
    for (Segment above : List.copyOf(segments.tailMap(index, false).values())) {
      segments.values().remove(above);
      above.delete();
    }
    Map.Entry<Long, Segment> last = segments.lastEntry();
    if (last != null) {
      Segment segment = last.getValue();
      int kept = segment.table().firstAtLeast(index + 1);
      segment.cut(kept);
    }
    current = null;
    forceDirectory();
  }

  private Segment of(long index) {
    Map.Entry<Long, Segment> entry = segments.floorEntry(index);
    return entry == null ? null : entry.getValue();
  }

  private interface Lookup<T> {
    T at(Segment segment, int row) throws IOException;
  }

  /** Looks up a record; once more if its segment has just given way to a rewritten one. */
  private <T> T look(long index, T missing, Lookup<T> lookup) throws IOException {
    while (true) {
      Segment segment = of(index);
      int row = segment == null ? -1 : segment.table().row(index);
      if (row < 0) {
        return missing;
      }
      try {
        return lookup.at(segment, row);
      } catch (NoSuchFileException gone) {
        if (of(index) == segment) {
          throw gone;
        }
      }
    }
  }

  /** Length of the body of an entry in bytes; 0 if there is none. */
  public int length(long index) {
    Segment segment = of(index);
    int row = segment == null ? -1 : segment.table().row(index);
    return row < 0 ? 0 : segment.table().length(row);
  }

  /** Whether the body of this entry is there; of its bytes only the header is read. */
  public boolean holds(long term, long index) throws IOException {
    return look(
        index,
        false,
        (segment, row) -> {
          RecordHeader header = segment.header(row);
          return header != null && header.term() == term && header.index() == index;
        });
  }

  /**
   * Reads a part of an entry's body.
   *
   * @return false if there is no such body, or it is shorter
   */
  public boolean read(long index, int offset, ByteBuffer into) throws IOException {
    int from = into.position();
    return look(
        index,
        false,
        (segment, row) -> {
          if (offset + into.limit() - from > segment.table().length(row)) {
            return false;
          }
          segment.readBody(row, offset, into.position(from));
          return true;
        });
  }

  /** Reads a whole body and compares it with its checksum; null if it is missing or damaged. */
  public ByteBuffer readVerified(long index) throws IOException {
    return look(
        index,
        null,
        (segment, row) -> {
          RecordHeader header = segment.header(row);
          if (header == null || header.index() != index) {
            return null;
          }
          ByteBuffer body = ByteBuffer.allocate(header.length());
          segment.readBody(row, 0, body);
          return RecordHeader.crcOf(body.flip().slice()) == header.crc() ? body : null;
        });
  }

  /**
   * One segment, as it was when asked for.
   *
   * @param number its place among all
   * @param bytes length of its file
   * @param sealed whether nothing more is appended to it
   */
  public record Info(long number, long firstIndex, long lastIndex, long bytes, boolean sealed) {}

  /** All segments, oldest first. */
  public List<Info> list() {
    List<Info> infos = new ArrayList<>();
    for (Segment segment : segments.values()) {
      RecordTable table = segment.table();
      infos.add(
          new Info(
              segment.name().number(),
              segment.firstIndex(),
              table.index(table.count() - 1),
              segment.bytes(),
              segment.sealed()));
    }
    return infos;
  }

  /** Told how many bytes a rewrite has read, so that it can wait; may throw to give up. */
  public interface Pace {
    void read(long bytes) throws IOException;
  }

  /**
   * Writes a sealed segment anew, without the bodies that are not needed any more, and puts the new
   * file in the place of the old one. Readers do not notice. On any thread that may wait for a
   * disk, for one segment at a time.
   *
   * @param needed tells by the index of an entry whether its body is
   * @return by how many bytes the files became smaller
   */
  public long rewrite(long number, LongPredicate needed, Pace pace) throws IOException {
    Segment old = null;
    for (Segment each : segments.values()) {
      if (each.name().number() == number && each.sealed()) {
        old = each;
      }
    }
    if (old == null) {
      return 0;
    }
    Segment copy = Segment.create(directory, old.name().next());
    try {
      for (int row = 0; row < old.table().count(); row++) {
        long index = old.table().index(row);
        if (of(index) == old && needed.test(index)) {
          old.copyTo(copy, row);
          pace.read(old.table().length(row));
        }
      }
      copy.force();
      copy.seal();
      forceDirectory();
    } catch (IOException | RuntimeException e) {
      copy.delete();
      throw e;
    }
    exchange(old, copy);
    old.delete();
    return old.bytes() - copy.bytes();
  }

  private synchronized void exchange(Segment old, Segment copy) throws IOException {
    long first = old.firstIndex();
    if (copy.table().count() == 0) {
      copy.delete();
      segments.remove(first, old);
    } else if (copy.firstIndex() == first) {
      segments.replace(first, old, copy);
    } else {
      // At no moment is a record that both have in neither.
      segments.put(copy.firstIndex(), copy);
      segments.remove(first, old);
    }
  }

  /**
   * Links all segments into another directory of the same file system, and begins a new one: the
   * linked ones do not change any more. On the writing thread.
   */
  public void link(Path target) throws IOException {
    Files.createDirectories(target);
    if (!segments.isEmpty()) {
      roll();
    }
    for (Segment segment : segments.values()) {
      segment.link(target);
    }
  }

  /** Length of all segments in bytes. */
  public long bytes() {
    long bytes = 0;
    for (Segment segment : segments.values()) {
      bytes += segment.bytes();
    }
    return bytes;
  }

  private void forceDirectory() throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  @Override
  public void close() throws IOException {
    for (Segment segment : segments.values()) {
      segment.close();
    }
    if (current != null) {
      current.close();
    }
  }
}
