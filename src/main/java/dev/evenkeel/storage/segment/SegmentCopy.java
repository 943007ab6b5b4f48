package dev.evenkeel.storage.segment;

import dev.evenkeel.storage.segment.Segments.Body;
import dev.evenkeel.storage.segment.Segments.Pace;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.LongPredicate;

/**
 * Writes a segment anew: some records are left out, some are replaced, some are added, and the
 * others are copied as they are. A record that cannot be read and has no replacement is left out.
 */
final class SegmentCopy {
  private final Segment old;
  private final LongPredicate wanted;
  private final Segments.Needs needs;
  private final NavigableMap<Long, Body> replacements;
  private final Pace pace;
  private final BooleanSupplier givenUp;

  /**
   * @param wanted tells by the index of an entry whether a record is copied, or a part of it
   * @param needs tells which part
   * @param replacements of damaged or missing records, by index
   * @param givenUp tells that nobody wants the copy any more, so that it may end early
   */
  SegmentCopy(
      Segment old,
      LongPredicate wanted,
      Segments.Needs needs,
      NavigableMap<Long, Body> replacements,
      Pace pace,
      BooleanSupplier givenUp) {
    this.old = old;
    this.wanted = wanted;
    this.needs = needs;
    this.replacements = replacements;
    this.pace = pace;
    this.givenUp = givenUp;
  }

  /** Fills a new segment, and makes it durable. */
  void into(Segment copy) throws IOException {
    RecordTable places = old.table().isSound() ? old.table() : old.found();
    NavigableMap<Long, Body> left = new TreeMap<>(replacements);
    for (int row = 0; row < places.count() && !givenUp.getAsBoolean(); row++) {
      long index = places.index(row);
      write(copy, left.headMap(index, false));
      Body replacement = left.remove(index);
      if (replacement != null) {
        write(copy, replacement);
      } else if (wanted.test(index)) {
        copy(copy, places, row);
      }
    }
    write(copy, left);
    copy.force();
  }

  private void copy(Segment copy, RecordTable places, int row) throws IOException {
    Body part = places != old.table() || needs.all(places.index(row)) ? null : part(row);
    if (part != null) {
      write(copy, part);
    } else {
      old.copyIfReadable(copy, places, row);
    }
    pace.read(places.length(row));
  }

  /** What is left of a body; null if it stays as it is, or is damaged. */
  private Body part(int row) throws IOException {
    try {
      RecordHeader header = old.header(row);
      ByteBuffer content = old.whole(row);
      if (content == null) {
        return null;
      }
      ByteBuffer part = needs.part(header.index(), content, header.partial());
      return part == null ? null : new Body(header.term(), header.index(), List.of(part), true);
    } catch (IOException e) {
      if (Segment.isUnreadable(e)) {
        return null;
      }
      throw e;
    }
  }

  private static void write(Segment copy, NavigableMap<Long, Body> bodies) throws IOException {
    for (Body body : bodies.values()) {
      write(copy, body);
    }
    bodies.clear();
  }

  private static void write(Segment copy, Body body) throws IOException {
    RecordHeader header = body.header();
    ByteBuffer bytes = ByteBuffer.allocate(RecordHeader.BYTES);
    header.write(bytes);
    List<ByteBuffer> record = new ArrayList<>();
    record.add(bytes.flip());
    body.parts().forEach(part -> record.add(part.duplicate()));
    copy.add(header.index(), header.length(), header.partial(), record.toArray(ByteBuffer[]::new));
  }
}
