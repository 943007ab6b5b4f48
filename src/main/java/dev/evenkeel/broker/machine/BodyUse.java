package dev.evenkeel.broker.machine;

import dev.evenkeel.broker.state.BatchPlace;
import dev.evenkeel.broker.state.DelayedBatch;
import dev.evenkeel.broker.state.FailureKeys;
import dev.evenkeel.broker.state.IndexEntry;
import dev.evenkeel.broker.state.KeptMessage;
import dev.evenkeel.broker.state.Keys;
import dev.evenkeel.storage.Store;
import dev.evenkeel.storage.segment.Segments;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongToIntFunction;

/**
 * Which bodies of a data log group the state needs, segment by segment, at one moment. What is not
 * needed once is never needed again: only a new entry refers to a body that nothing refers to.
 */
public final class BodyUse {
  /** A segment of which less than this part is needed is written anew. */
  private static final double NEEDED_PART_MIN = 0.5;

  /** What to do with a segment. */
  public enum Act {
    KEEP,
    /** Write it anew, without what nobody needs. */
    REWRITE,
    DELETE
  }

  /** One segment. */
  public static final class Use {
    private final Segments.Info segment;
    private final BitSet needed = new BitSet();
    private long neededBytes;

    private Use(Segments.Info segment) {
      this.segment = segment;
    }

    public Segments.Info segment() {
      return segment;
    }

    /** Length of the bodies that are needed, in bytes. */
    public long neededBytes() {
      return neededBytes;
    }

    /** Whether the body of this entry of the segment is needed. */
    public boolean needs(long index) {
      return needed.get((int) (index - segment.firstIndex()));
    }

    private void mark(long index, LongToIntFunction length) {
      if (index <= segment.lastIndex() && !needs(index)) {
        needed.set((int) (index - segment.firstIndex()));
        neededBytes += length.applyAsInt(index);
      }
    }

    /**
     * What to do with the segment.
     *
     * @param firstIndex bodies of entries from this one on must stay, whether they are needed or
     *     not: the log may send them to a follower
     */
    public Act act(long firstIndex) {
      if (!segment.sealed() || segment.lastIndex() >= firstIndex) {
        return Act.KEEP;
      }
      if (needed.isEmpty()) {
        return Act.DELETE;
      }
      return neededBytes < NEEDED_PART_MIN * segment.bytes() ? Act.REWRITE : Act.KEEP;
    }
  }

  private final TreeMap<Long, Use> byFirstIndex = new TreeMap<>();
  private final SortedSet<Long> missing = new TreeSet<>();
  private final LongToIntFunction length;

  private BodyUse(List<Segments.Info> segments, LongToIntFunction length) {
    this.length = length;
    segments.forEach(each -> byFirstIndex.put(each.firstIndex(), new Use(each)));
  }

  /**
   * Looks through everything that refers to bodies. Waits for the disk.
   *
   * @param segments as they were before
   * @param length of the body of an entry in bytes; 0 if there is none
   */
  public static BodyUse of(Store store, List<Segments.Info> segments, LongToIntFunction length) {
    BodyUse use = new BodyUse(segments, length);
    // A batch may get its offsets meanwhile, and one with offsets may get failures: in this order
    // it is then seen twice, not missed.
    try (Store.Cursor cursor = store.scan(Store.Table.DELAYED, Keys.first(), Keys.last())) {
      while (cursor.next()) {
        use.mark(DelayedBatch.decode(cursor.value()).place());
      }
    }
    try (Store.Cursor cursor = store.scan(Store.Table.INDEX, Keys.first(), Keys.last())) {
      while (cursor.next()) {
        use.mark(IndexEntry.decode(cursor.key(), cursor.value()).place());
      }
    }
    try (Store.Cursor cursor = store.scan(Store.Table.FAILURES, Keys.first(), Keys.last())) {
      while (cursor.next()) {
        BatchPlace place =
            FailureKeys.hasMessage(cursor.key())
                ? KeptMessage.decode(cursor.value()).place()
                : null;
        if (place != null) {
          use.mark(place);
        }
      }
    }
    return use;
  }

  private void mark(BatchPlace place) {
    if (length.applyAsInt(place.index()) == 0) {
      missing.add(place.index());
      return;
    }
    Map.Entry<Long, Use> segment = byFirstIndex.floorEntry(place.index());
    if (segment != null) {
      segment.getValue().mark(place.index(), length);
    }
  }

  /** Entries whose bodies are needed, and in no segment. */
  public SortedSet<Long> missing() {
    return missing;
  }

  /** All segments, oldest first. */
  public List<Use> segments() {
    return new ArrayList<>(byFirstIndex.values());
  }

  /** Length of all bodies that are needed, in bytes. */
  public long neededBytes() {
    return byFirstIndex.values().stream().mapToLong(Use::neededBytes).sum();
  }

  /** Length of all segments in bytes. */
  public long bytes() {
    return byFirstIndex.values().stream().mapToLong(use -> use.segment().bytes()).sum();
  }
}
