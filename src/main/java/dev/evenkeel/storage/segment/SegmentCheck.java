package dev.evenkeel.storage.segment;

import dev.evenkeel.storage.segment.Segments.Pace;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;

/**
 * What a check of one segment found.
 *
 * @param tableIsSound whether the table beside the segment is. If it is not, nothing is known of
 *     the records.
 * @param damaged indices of the entries whose records are damaged
 */
public record SegmentCheck(boolean tableIsSound, List<Long> damaged) {
  static final SegmentCheck NOTHING = new SegmentCheck(true, List.of());

  static SegmentCheck of(Segment segment, SegmentList segments, Pace pace) throws IOException {
    RecordTable table = segment.table();
    List<Long> damaged = new ArrayList<>();
    try {
      int rows = table.isSound() ? table.count() : 0;
      for (int row = 0; row < rows; row++) {
        // A record that was replaced does not count.
        if (segments.of(table.index(row)) == segment && !segment.isWhole(row)) {
          damaged.add(table.index(row));
        }
        pace.read(RecordHeader.BYTES + table.length(row));
      }
    } catch (NoSuchFileException gone) {
      return NOTHING;
    }
    // What gave way to another one meanwhile says nothing about that one.
    boolean there = segments.numbered(segment.name().number()) == segment;
    boolean sound = !there || table.isSound();
    return new SegmentCheck(sound, there && sound ? damaged : List.of());
  }
}
