package dev.evenkeel.storage.segment;

import dev.evenkeel.util.files.DurableFiles;
import dev.evenkeel.util.files.PrivateFiles;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongPredicate;
import java.util.zip.CRC32C;

/**
 * The bodies of a log group's entries: append-only files, in the order of the log. An entry that is
 * appended at an index that is there already replaces that one and all with higher indices, as a
 * log does in which another leader's entries take the place of uncommitted ones; their bytes stay
 * behind as dead ones.
 *
 * <p>Any thread may call any method. What changes the files is done one after another; reading
 * waits for none of it.
 */
public final class Segments extends SegmentReads implements Closeable {
  /** What a body takes in a segment beside its own bytes. */
  public static final int RECORD_HEADER_BYTES = RecordHeader.BYTES;

  /** Positions in a segment are ints. */
  static final long BYTES_HARD_MAX = 1L << 30;

  /** Most files that are open for readers. */
  private static final int FILES_OPEN_MAX = 256;

  private final long segmentBytesMax;

  /** Held while a segment is rewritten; taken before the monitor of this. */
  private final ReentrantLock rewriting = new ReentrantLock();

  private volatile boolean restoring;
  private volatile boolean closed;

  /** The segment that is written to; null before the first body. */
  private Segment current;

  private boolean dirty;

  /**
   * The body of one log entry.
   *
   * @param parts its bytes, one behind the other; at least one byte
   * @param partial whether that is only what is left of it
   */
  public record Body(long term, long index, List<ByteBuffer> parts, boolean partial) {
    /** A whole body. */
    public Body(long term, long index, List<ByteBuffer> parts) {
      this(term, index, parts, false);
    }

    RecordHeader header() {
      CRC32C crc = new CRC32C();
      int length = 0;
      for (ByteBuffer part : parts) {
        crc.update(part.duplicate());
        length += part.remaining();
      }
      return new RecordHeader(index, term, length, (int) crc.getValue(), partial);
    }
  }

  private Segments(Path directory, long segmentBytesMax, FilePool files) {
    super(new SegmentList(directory, files));
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
    return open(directory, segmentBytesMax, flushedIndex, new FilePool(FILES_OPEN_MAX));
  }

  static Segments open(Path directory, long segmentBytesMax, long flushedIndex, FilePool files)
      throws IOException {
    if (segmentBytesMax < 1 || segmentBytesMax > BYTES_HARD_MAX) {
      throw new IllegalArgumentException(
          "segments of " + segmentBytesMax + " bytes: 1 to " + BYTES_HARD_MAX + " are possible");
    }
    PrivateFiles.createDirectories(directory);
    Segments opened = new Segments(directory, segmentBytesMax, files);
    opened.segments.open(flushedIndex);
    return opened;
  }

  /** Appends bodies, in the order of their indices or with lower ones that replace others. */
  public synchronized void append(List<Body> bodies) throws IOException {
    int from = 0;
    while (from < bodies.size()) {
      from = appendSome(bodies, from);
    }
  }

  private int appendSome(List<Body> bodies, int from) throws IOException {
    if (current == null || current.sealed() || current.bytes() >= segmentBytesMax) {
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
    dirty = true;
    current.write(buffers.toArray(ByteBuffer[]::new));
    for (RecordHeader header : headers) {
      boolean first = current.table().count() == 0;
      current.table().add(header.index(), (int) position, header.length(), header.partial());
      position += RecordHeader.BYTES + header.length();
      if (first) {
        segments.put(current);
      } else if (current.table().count() == 1) {
        segments.move(current);
      }
    }
    return to;
  }

  private void roll() throws IOException {
    if (current != null && current.bytes() == 0) {
      return;
    }
    if (dirty) {
      // Not by the channel that bodies are written by, which an interrupted thread would close.
      DurableFiles.force(current.path());
      dirty = false;
    }
    for (Segment segment : segments.all()) {
      if (!segment.sealed()) {
        segment.seal();
      }
    }
    Segment next = segments.create();
    try {
      segments.forceDirectory();
    } catch (IOException e) {
      next.delete();
      throw e;
    }
    current = next;
  }

  /** Makes everything that was appended survive a crash of the machine. */
  public synchronized void force() throws IOException {
    if (dirty) {
      current.force();
      dirty = false;
    }
  }

  /** Drops the bodies of all entries above {@code index}. */
  public synchronized void cutAfter(long index) throws IOException {
    endCurrent();
    for (Segment above : segments.above(index)) {
      segments.remove(above);
    }
    Segment last = segments.of(index);
    if (last != null) {
      last.cut(last.table().firstAtLeast(index + 1));
    }
    segments.forceDirectory();
  }

  /** Forces what was written. The next body begins a new segment. */
  private void endCurrent() throws IOException {
    force();
    if (current != null) {
      current.close();
      if (current.bytes() == 0) {
        current.delete();
      }
      current = null;
    }
  }

  /** Told how many bytes a rewrite has read, so that it can wait; may throw to give up. */
  public interface Pace {
    void read(long bytes) throws IOException;
  }

  /** Tells a rewrite what of a body is needed. */
  public interface Needs {
    /** Whether any of the body of an entry is. */
    boolean any(long index);

    /** Whether all of it is. */
    default boolean all(long index) {
      return any(index);
    }

    /**
     * What is left of a body of which a part is needed; null: it stays as it is.
     *
     * @param content of its record
     * @param partial whether that is a part already
     */
    default ByteBuffer part(long index, ByteBuffer content, boolean partial) {
      return null;
    }
  }

  /**
   * Writes a sealed segment anew, without what is not needed any more, and puts the new file in the
   * place of the old one. Readers do not notice. On any thread that may wait for a disk.
   *
   * @param needs tells by the index of an entry what of its body is needed
   * @param info as {@link #list} told it
   * @return by how many bytes the files became smaller; 0 if the segment is not as it was, or is
   *     replaced meanwhile, or its table is damaged
   */
  public long rewrite(Info info, Needs needs, Pace pace) throws IOException {
    rewriting.lock();
    try {
      Segment old = sealed(info);
      if (old == null || !old.table().isSound()) {
        return 0;
      }
      Segment copy = anew(old, needs, new TreeMap<>(), pace);
      return copy == null ? 0 : old.bytes() - copy.bytes();
    } finally {
      rewriting.unlock();
    }
  }

  /**
   * Writes a segment anew with other bodies in the place of damaged or missing ones, and with a new
   * table. One that is written to is ended first. Readers do not notice. On any thread that may
   * wait for a disk.
   *
   * @param number as {@link #numberOf} says
   * @param bodies by index; as they were appended
   * @param needed tells by the index of an entry whether its body is; not asked about {@code
   *     bodies}
   * @return whether it is done; false if there is no such segment, or it was replaced meanwhile
   */
  public boolean mend(long number, NavigableMap<Long, Body> bodies, LongPredicate needed)
      throws IOException {
    rewriting.lock();
    try {
      seal(number);
      Segment old = sealed(number);
      return old != null && anew(old, needed::test, bodies, bytes -> {}) != null;
    } finally {
      rewriting.unlock();
    }
  }

  private synchronized void seal(long number) throws IOException {
    Segment segment = segments.numbered(number);
    if (segment != null && !segment.sealed() && !closed) {
      roll();
    }
  }

  /** The new segment; null if the old one was replaced meanwhile. */
  private Segment anew(Segment old, Needs needs, NavigableMap<Long, Body> replacements, Pace pace)
      throws IOException {
    Segment copy = segments.createFor(old);
    try {
      LongPredicate wanted = index -> segments.of(index) == old && needs.any(index);
      new SegmentCopy(old, wanted, needs, replacements, pace, () -> restoring).into(copy);
      return finish(old, copy) ? copy : null;
    } catch (IOException | RuntimeException e) {
      if (segments.numbered(copy.name().number()) != copy) {
        copy.delete();
      }
      throw e;
    }
  }

  private synchronized boolean finish(Segment old, Segment copy) throws IOException {
    if (restoring || sealed(old.name().number()) != old || !isInPlace(copy)) {
      copy.delete();
      return false;
    }
    copy.seal();
    segments.forceDirectory();
    segments.exchange(old, copy);
    return true;
  }

  /** Whether no other segment has the place of one of its bodies. */
  private boolean isInPlace(Segment copy) {
    long number = copy.name().number();
    return copy.table().count() == 0
        || numberOf(copy.firstIndex()) == number && numberOf(copy.lastIndex()) == number;
  }

  private Segment sealed(long number) {
    Segment segment = segments.numbered(number);
    return closed || segment == null || !segment.sealed() ? null : segment;
  }

  /** The segment, or null if it is not as it was: a snapshot may have brought another one. */
  private Segment sealed(Info info) {
    Segment segment = sealed(info.number());
    return segment != null && Info.of(segment).equals(info) ? segment : null;
  }

  /**
   * Deletes a sealed segment, none of whose bodies is needed any more.
   *
   * @param info as {@link #list} told it
   * @return how many bytes it had; 0 if the segment is not as it was
   */
  public synchronized long delete(Info info) throws IOException {
    Segment segment = sealed(info);
    if (segment == null) {
      return 0;
    }
    segments.remove(segment);
    return segment.bytes();
  }

  /**
   * Links all segments into another directory of the same file system, and begins a new one: the
   * linked ones do not change any more.
   *
   * @param lastIndex last entry that counts: bodies above it may be linked, too
   */
  public synchronized void link(Path target, long lastIndex) throws IOException {
    PrivateFiles.createDirectories(target);
    if (!segments.all().isEmpty()) {
      roll();
    }
    for (Segment segment : segments.all()) {
      segment.link(target);
    }
    SegmentRestore.writeLast(target, lastIndex);
  }

  /**
   * Takes over the bodies that {@link #link} put into a directory, here or on another node. Bodies
   * above its last entry that are here stay; all others give way. After a crash in the middle it
   * can be repeated.
   */
  public void restore(Path from) throws IOException {
    restoring = true;
    rewriting.lock();
    try {
      synchronized (this) {
        endCurrent();
        new SegmentRestore(segments, from, segmentBytesMax).run();
      }
    } finally {
      restoring = false;
      rewriting.unlock();
    }
  }

  /** Whether other bodies are taking the place of those that are here, so that some are missing. */
  public boolean isRestoring() {
    return restoring;
  }

  /** Ends a rewriting that is under way; from now on nothing is changed any more. */
  @Override
  public void close() throws IOException {
    restoring = true;
    rewriting.lock();
    try {
      synchronized (this) {
        closed = true;
        segments.close();
        if (current != null) {
          current.close();
        }
      }
    } finally {
      rewriting.unlock();
    }
  }
}
