package dev.evenkeel.storage.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.List;

/** Reads the bodies in segments. Any thread may call any method. */
public abstract sealed class SegmentReads permits Segments {
  final SegmentList segments;

  SegmentReads(SegmentList segments) {
    this.segments = segments;
  }

  private interface Lookup<T> {
    T at(Segment segment, int row) throws IOException;
  }

  /** Looks up a record; once more if its segment has just given way to a rewritten one. */
  private <T> T look(long index, T missing, Lookup<T> lookup) throws IOException {
    while (true) {
      Segment segment = segments.of(index);
      int row = segment == null ? -1 : segment.table().row(index);
      if (row < 0) {
        return missing;
      }
      try {
        return lookup.at(segment, row);
      } catch (NoSuchFileException gone) {
        if (segments.of(index) == segment) {
          throw gone;
        }
      } catch (IOException e) {
        if (Segment.isUnreadable(e)) {
          return missing;
        }
        throw e;
      }
    }
  }

  /** Length of the body of an entry in bytes; 0 if there is none. */
  public int length(long index) {
    Segment segment = segments.of(index);
    int row = segment == null ? -1 : segment.table().row(index);
    return row < 0 ? 0 : segment.table().length(row);
  }

  /** Term of the entry whose body is there, as far as its header tells; -1: there is none. */
  public long term(long index) throws IOException {
    RecordHeader header = header(index);
    return header == null ? -1 : header.term();
  }

  /**
   * Reads a part of an entry's body.
   *
   * @return false if there is no such body, or not all of it, or it is shorter
   */
  public boolean read(long index, int offset, ByteBuffer into) throws IOException {
    int from = into.position();
    return look(
        index,
        false,
        (segment, row) -> {
          RecordTable table = segment.table();
          if (table.isPartial(row) || offset + into.limit() - from > table.length(row)) {
            return false;
          }
          segment.readBody(row, offset, into.position(from));
          return true;
        });
  }

  /**
   * Reads parts of bodies, in their order, without a check of their bytes.
   *
   * @return how many were filled; the next one is missing, or cannot be read
   */
  public int read(List<BodyPart> parts) throws IOException {
    int filled = 0;
    while (filled < parts.size()) {
      int joined = readJoined(JoinedRead.of(segments, parts, filled));
      BodyPart part = parts.get(filled);
      if (joined == 0 && !read(part.index(), part.offset(), part.into())) {
        return filled;
      }
      filled += Math.max(1, joined);
    }
    return filled;
  }

  /** How many were filled: 0 if they must be read one by one. */
  private static int readJoined(JoinedRead joined) {
    if (joined.count() < 2) {
      return 0;
    }
    try {
      joined.read();
      return joined.count();
    } catch (IOException e) {
      // The segment has given way to a rewritten one, or only some of the parts can be read.
      return 0;
    }
  }

  /**
   * Reads a whole body and compares it with its checksum; null if it is missing or damaged, or only
   * a part is left.
   */
  public ByteBuffer readVerified(long index) throws IOException {
    return look(
        index, null, (segment, row) -> segment.table().isPartial(row) ? null : segment.whole(row));
  }

  /**
   * Reads what is left of a body of which a part was kept; null if the whole body is there, or none
   * of it, or it is damaged.
   */
  public ByteBuffer readPart(long index) throws IOException {
    return look(
        index, null, (segment, row) -> segment.table().isPartial(row) ? segment.whole(row) : null);
  }

  /** What stands before the body of an entry; null if it is missing or damaged. */
  public RecordHeader header(long index) throws IOException {
    return look(index, null, Segment::header);
  }

  /** Compares every record of a segment with its checksums. Waits for the disk. */
  public SegmentCheck check(long number, Segments.Pace pace) throws IOException {
    Segment segment = segments.numbered(number);
    return segment == null ? SegmentCheck.NOTHING : SegmentCheck.of(segment, segments, pace);
  }

  /** Whether the table beside a segment is undamaged; true if there is no such segment. */
  public boolean tableIsSound(long number) throws IOException {
    Segment segment = segments.numbered(number);
    return segment == null || segment.table().isSound();
  }

  /**
   * Number of the segment that has the body of this entry, or should have it; -1: there is none.
   */
  public long numberOf(long index) {
    Segment segment = segments.of(index);
    if (segment != null) {
      return segment.name().number();
    }
    return segments.all().stream().findFirst().map(first -> first.name().number()).orElse(-1L);
  }

  /**
   * One segment, as it was when asked for.
   *
   * @param number its place among all
   * @param bytes length of its file
   * @param sealed whether nothing more is appended to it
   */
  public record Info(long number, long firstIndex, long lastIndex, long bytes, boolean sealed) {
    static Info of(Segment segment) {
      return new Info(
          segment.name().number(),
          segment.firstIndex(),
          segment.lastIndex(),
          segment.bytes(),
          segment.sealed());
    }
  }

  /** All segments, oldest first. */
  public List<Info> list() {
    return segments.all().stream().map(Info::of).toList();
  }

  /** Length of all segments in bytes. */
  public long bytes() {
    return segments.all().stream().mapToLong(Segment::bytes).sum();
  }
}
