package dev.evenkeel.storage;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Deleted ranges whose files are still to be dropped. Joins a range with an earlier one of the
 * table that it continues, as when a shard is trimmed again and again. Not thread-safe.
 */
final class DeletedRanges {
  /** Above this number the oldest range is forgotten: compaction then frees its space. */
  static final int RANGES_MAX = 1024;

  private final List<DeletedRange> ranges = new ArrayList<>();

  void add(DeletedRange range) {
    for (int i = ranges.size() - 1; i >= 0; i--) {
      DeletedRange earlier = ranges.get(i);
      if (earlier.table() == range.table()
          && Arrays.compareUnsigned(earlier.from(), range.from()) <= 0
          && Arrays.compareUnsigned(range.from(), earlier.to()) <= 0) {
        byte[] to =
            Arrays.compareUnsigned(earlier.to(), range.to()) >= 0 ? earlier.to() : range.to();
        ranges.set(i, new DeletedRange(range.table(), earlier.from(), to));
        return;
      }
    }
    if (ranges.size() == RANGES_MAX) {
      ranges.remove(0);
    }
    ranges.add(range);
  }

  List<DeletedRange> take() {
    List<DeletedRange> taken = List.copyOf(ranges);
    ranges.clear();
    return taken;
  }
}
