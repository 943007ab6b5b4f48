package dev.evenkeel.broker.machine;

import dev.evenkeel.broker.state.BatchPlace;
import dev.evenkeel.broker.state.DelayedBatch;
import dev.evenkeel.broker.state.FailureKeys;
import dev.evenkeel.broker.state.IndexEntry;
import dev.evenkeel.broker.state.KeptMessage;
import dev.evenkeel.broker.state.Keys;
import dev.evenkeel.storage.Store;
import dev.evenkeel.storage.segment.Segments;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.LongToIntFunction;

/**
 * Which bodies of a data log group the state needs, segment by segment. What is not needed once is
 * never needed again: only a new entry refers to a body that nothing refers to.
 */
public final class BodyUse {
  /** A segment of which less than this part is needed is written anew. */
  private static final double NEEDED_PART_MIN = 0.5;

  /** Rows that are read between two pauses. */
  private static final int STEP_ROWS = 4_096;

  /** What to do with a segment. */
  public enum Act {
    KEEP,
    /** Write it anew, without what nobody needs. */
    REWRITE,
    DELETE
  }

  /** Called after each step; may wait, so that the disk is not burdened, or throw to give up. */
  public interface Pause {
    void afterStep() throws IOException;
  }

  private interface Row {
    /** Null: it refers to no body. */
    BatchPlace place(byte[] key, byte[] value);
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

    /** Bytes that the needed bodies take in it. */
    public long neededBytes() {
      return neededBytes;
    }

    /** Bytes of it that nobody needs. */
    public long deadBytes() {
      return Math.max(0, segment.bytes() - neededBytes);
    }

    /** Whether the body of this entry of the segment is needed. */
    public boolean needs(long index) {
      return needed.get((int) (index - segment.firstIndex()));
    }

    private void mark(long index, LongToIntFunction bytes) {
      if (index <= segment.lastIndex() && !needs(index)) {
        needed.set((int) (index - segment.firstIndex()));
        neededBytes += bytes.applyAsInt(index);
      }
    }

    /**
     * What to do with the segment.
     *
     * @param firstIndex bodies of entries from this one on must stay, whether they are needed or
     *     not: the log may send them to a follower, or the state has not seen them yet
     */
    public Act act(long firstIndex) {
      if (!segment.sealed() || segment.lastIndex() >= firstIndex) {
        return Act.KEEP;
      }
      if (needed.isEmpty()) {
        return Act.DELETE;
      }
      return littleNeeded() ? Act.REWRITE : Act.KEEP;
    }

    /** Whether a part of it goes, as soon as the log does not keep it any more. */
    public boolean littleNeeded() {
      return neededBytes < NEEDED_PART_MIN * segment.bytes();
    }
  }

  private final TreeMap<Long, Use> byFirstIndex = new TreeMap<>();
  private final SortedSet<Long> missing = new TreeSet<>();
  private final LongToIntFunction bytes;

  private BodyUse(List<Segments.Info> segments, LongToIntFunction bytes) {
    this.bytes = bytes;
    segments.forEach(each -> byFirstIndex.put(each.firstIndex(), new Use(each)));
  }

  /**
   * Looks through everything that refers to bodies, while the state goes on. Waits for the disk.
   *
   * @param segments as they were before
   * @param bytes that the body of an entry takes in its segment; 0 if there is none
   * @throws IOException also if the store is closed, or a snapshot takes its place
   */
  public static BodyUse of(
      StoredState<?, ?> state, List<Segments.Info> segments, LongToIntFunction bytes, Pause pause)
      throws IOException {
    // The cursor is used when the state is not held any more, so that nobody waits for it: it goes
    // on seeing the moment at which it was opened, and its store may close it.
    return of(
        table -> state.read(store -> store.scan(table, Keys.first(), Keys.last())),
        segments,
        bytes,
        pause);
  }

  /**
   * The same for rows that are not those of a state.
   *
   * @param rows of a table, at one moment
   */
  public static BodyUse of(
      Function<Store.Table, Store.Cursor> rows,
      List<Segments.Info> segments,
      LongToIntFunction bytes,
      Pause pause)
      throws IOException {
    BodyUse use = new BodyUse(segments, bytes);
    // A batch may get its offsets meanwhile, and one with offsets may get failures: in this order
    // it is then seen twice, not missed.
    use.scan(rows, Store.Table.DELAYED, (key, value) -> DelayedBatch.decode(value).place(), pause);
    use.scan(rows, Store.Table.INDEX, (key, value) -> IndexEntry.decode(key, value).place(), pause);
    use.scan(rows, Store.Table.FAILURES, BodyUse::failed, pause);
    return use;
  }

  private static BatchPlace failed(byte[] key, byte[] value) {
    return FailureKeys.hasMessage(key) ? KeptMessage.decode(value).place() : null;
  }

  private void scan(
      Function<Store.Table, Store.Cursor> rows, Store.Table table, Row row, Pause pause)
      throws IOException {
    try (Store.Cursor cursor = rows.apply(table)) {
      for (int read = 1; cursor.next(); read++) {
        BatchPlace place = row.place(cursor.key(), cursor.value());
        if (place != null) {
          mark(place);
        }
        if (read % STEP_ROWS == 0) {
          pause.afterStep();
        }
      }
    } catch (IllegalStateException closed) {
      throw new IOException("the store was closed before all of it was read", closed);
    }
  }

  private void mark(BatchPlace place) {
    if (bytes.applyAsInt(place.index()) == 0) {
      missing.add(place.index());
      return;
    }
    Map.Entry<Long, Use> segment = byFirstIndex.floorEntry(place.index());
    if (segment != null) {
      segment.getValue().mark(place.index(), bytes);
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

  /** Bytes of all segments that nobody needs. */
  public long deadBytes() {
    return byFirstIndex.values().stream().mapToLong(Use::deadBytes).sum();
  }
}
