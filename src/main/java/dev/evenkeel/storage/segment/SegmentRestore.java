package dev.evenkeel.storage.segment;

import dev.evenkeel.util.files.DurableFiles;
import dev.evenkeel.util.files.PrivateFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Puts the segments of a snapshot in the place of those that are there, see {@link
 * Segments#restore}. The snapshot may come from another node, whose segments have other numbers.
 *
 * <p>After each step the directory has all bodies above the snapshot. Those that it covers may be
 * missing between the steps, until it is restored again.
 */
final class SegmentRestore {
  private static final String LAST = "last-index";

  private final SegmentList segments;
  private final Path from;
  private final long segmentBytesMax;
  private final long lastIndex;
  private final List<Segment.Name> linked;

  SegmentRestore(SegmentList segments, Path from, long segmentBytesMax) throws IOException {
    this.segments = segments;
    this.from = from;
    this.segmentBytesMax = segmentBytesMax;
    lastIndex = readLast(from);
    linked = SegmentList.names(from);
  }

  /** Completes a directory of linked segments. */
  static void writeLast(Path directory, long lastIndex) throws IOException {
    try (FileChannel file =
        PrivateFiles.open(
            directory.resolve(LAST), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.wrap(Long.toString(lastIndex).getBytes(StandardCharsets.US_ASCII)));
      file.force(true);
    }
    DurableFiles.force(directory);
  }

  private static long readLast(Path directory) throws IOException {
    try {
      return Long.parseLong(Files.readString(directory.resolve(LAST), StandardCharsets.US_ASCII));
    } catch (NoSuchFileException | NumberFormatException e) {
      throw new IOException(directory + " has no whole copy of the bodies of entries", e);
    }
  }

  void run() throws IOException {
    long lastNumber = linked.isEmpty() ? -1 : linked.get(linked.size() - 1).number();
    segments.skip(lastNumber);
    Set<Segment> kept = new HashSet<>(above(lastNumber));
    for (Segment segment : segments.all()) {
      if (segment.isLinkedIn(from)) {
        kept.add(segment);
      }
    }
    for (Segment segment : List.copyOf(segments.all())) {
      if (!kept.contains(segment)) {
        segments.remove(segment);
      }
    }
    for (Segment.Name name : linked) {
      if (!Files.exists(name.in(segments.directory(), Segment.SUFFIX))) {
        Segment.link(from, name, segments.directory());
      }
    }
    segments.forceDirectory();
    segments.openAgain(lastIndex);
  }

  /** Segments with all bodies above the snapshot, whose numbers are above its own. */
  private List<Segment> above(long lastNumber) throws IOException {
    List<Segment> above = new ArrayList<>();
    boolean asTheyAre = true;
    for (Segment segment : segments.all()) {
      boolean any = segment.table().firstAtLeast(lastIndex + 1) < segment.table().count();
      if (any && !segment.isLinkedIn(from)) {
        above.add(segment);
        asTheyAre &= segment.firstIndex() > lastIndex && segment.name().number() > lastNumber;
      }
    }
    if (!asTheyAre) {
      copyAbove();
      above.clear();
    }
    return above;
  }

  /**
   * Rare: entries came while a leader's snapshot was not restored yet, or a leader's snapshot finds
   * entries behind it that the leader is going to replace. The copies are made beside the segments,
   * which they would replace if a crash left only a part of them. So they come in when they are
   * whole, the last one first: it replaces nothing that another copy is to bring.
   */
  private void copyAbove() throws IOException {
    Deque<Segment> copies = new ArrayDeque<>();
    for (Segment segment : segments.all()) {
      RecordTable table = segment.table();
      for (int row = table.firstAtLeast(lastIndex + 1); row < table.count(); row++) {
        if (segments.of(table.index(row)) == segment) {
          if (copies.isEmpty() || copies.peek().bytes() >= segmentBytesMax) {
            copies.push(segments.createAside());
          }
          segment.copyIfReadable(copies.peek(), table, row);
        }
      }
    }
    for (Segment copy : copies) {
      copy.force();
      copy.close();
      DurableFiles.move(copy.path(), copy.name().in(segments.directory(), Segment.SUFFIX));
    }
  }
}
