package dev.evenkeel.broker.machine;

import dev.evenkeel.broker.state.BatchPlace;
import dev.evenkeel.broker.state.DelayedBatch;
import dev.evenkeel.broker.state.FailureKeys;
import dev.evenkeel.broker.state.IndexEntry;
import dev.evenkeel.broker.state.KeptMessage;
import dev.evenkeel.broker.state.KeptPart;
import dev.evenkeel.broker.state.Keys;
import dev.evenkeel.protocol.wire.BatchHeader;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.storage.Store;
import dev.evenkeel.storage.segment.Segments;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.LongToIntFunction;

/**
 * Which bodies of a data log group the state needs, segment by segment, and of which bodies only
 * some messages. What is not needed once is never needed again: only a new entry refers to a body
 * that nothing refers to, and only messages with offsets become retries and dead letters.
 */
public final class BodyUse {
  /** A segment of which less than this part is needed is written anew. */
  private static final double NEEDED_PART_MIN = 0.5;

  /** Rows that are read between two pauses. */
  private static final int STEP_ROWS = 4_096;

  /** What a message takes on the heap that is looked at by itself: two records, and where it is. */
  public static final int MESSAGE_BYTES = 160;

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
    void mark(byte[] key, byte[] value);
  }

  /** A needed message, and what it takes. */
  private record Ref(long index, KeptPart.Needed message, int bytes) {}

  /** One segment. */
  public static final class Use implements Segments.Needs {
    private final Segments.Info segment;
    private final BitSet needed = new BitSet();

    /** Of those, which must stay whole. */
    private final BitSet whole = new BitSet();

    /** Messages in the bodies that need not. */
    private final List<Ref> messages = new ArrayList<>();

    private final Map<Long, List<KeptPart.Needed>> byIndex = new HashMap<>();
    private long neededBytes;

    private Use(Segments.Info segment) {
      this.segment = segment;
    }

    public Segments.Info segment() {
      return segment;
    }

    /** Bytes that what is needed takes in it, or would take. */
    public long neededBytes() {
      return neededBytes;
    }

    /** Bytes of it that nobody needs. */
    public long deadBytes() {
      return Math.max(0, segment.bytes() - neededBytes);
    }

    private int bit(long index) {
      return (int) (index - segment.firstIndex());
    }

    @Override
    public boolean any(long index) {
      return needed.get(bit(index));
    }

    @Override
    public boolean all(long index) {
      return whole.get(bit(index));
    }

    @Override
    public ByteBuffer part(long index, ByteBuffer content, boolean partial) {
      List<KeptPart.Needed> wanted = byIndex.get(index);
      KeptPart part =
          partial ? KeptPart.decode(content).only(wanted) : KeptPart.of(content, wanted);
      ByteBuffer left = part == null ? null : part.encode();
      return left == null || left.remaining() >= content.remaining() ? null : left;
    }

    private void mark(long index, LongToIntFunction bytes) {
      if (index <= segment.lastIndex() && !all(index)) {
        needed.set(bit(index));
        whole.set(bit(index));
        neededBytes += bytes.applyAsInt(index);
      }
    }

    private boolean mark(Ref ref) {
      if (ref.index() > segment.lastIndex() || all(ref.index())) {
        return false;
      }
      needed.set(bit(ref.index()));
      messages.add(ref);
      return true;
    }

    /** Everything was looked through. */
    private void end(LongToIntFunction bytes) {
      Map<Long, Long> sums = new HashMap<>();
      for (Ref each : messages) {
        if (!all(each.index())) {
          sums.merge(each.index(), (long) each.bytes(), Long::sum);
          byIndex.computeIfAbsent(each.index(), any -> new ArrayList<>()).add(each.message());
        }
      }
      messages.clear();
      sums.forEach((index, sum) -> neededBytes += Math.min(sum, bytes.applyAsInt(index)));
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
  private final int messagesMax;
  private int messages;

  private BodyUse(List<Segments.Info> segments, int messagesMax, LongToIntFunction bytes) {
    this.bytes = bytes;
    this.messagesMax = messagesMax;
    segments.forEach(each -> byFirstIndex.put(each.firstIndex(), new Use(each)));
  }

  /**
   * Looks through everything that refers to bodies, while the state goes on. Waits for the disk.
   *
   * @param segments as they were before
   * @param messagesMax so many messages of retries and dead letters are looked at one by one. Of
   *     those beyond, the whole body is kept until others are gone
   * @param bytes that the body of an entry takes in its segment; 0 if there is none
   * @throws IOException also if the store is closed, or a snapshot takes its place
   */
  public static BodyUse of(
      StoredState<?, ?> state,
      List<Segments.Info> segments,
      int messagesMax,
      LongToIntFunction bytes,
      Pause pause)
      throws IOException {
    // The cursor is used when the state is not held any more, so that nobody waits for it: it goes
    // on seeing the moment at which it was opened, and its store may close it.
    return of(
        table -> state.read(store -> store.scan(table, Keys.first(), Keys.last())),
        segments,
        state.level() >= FeatureLevel.PARTIAL_BODIES ? messagesMax : 0,
        bytes,
        pause);
  }

  /**
   * The same for rows that are not those of a state.
   *
   * @param rows of a table, at one moment
   * @param messagesMax 0: all bodies are kept whole
   */
  public static BodyUse of(
      Function<Store.Table, Store.Cursor> rows,
      List<Segments.Info> segments,
      int messagesMax,
      LongToIntFunction bytes,
      Pause pause)
      throws IOException {
    BodyUse use = new BodyUse(segments, messagesMax, bytes);
    // A batch may get its offsets meanwhile, and one with offsets may get failures: in this order
    // it is then seen twice, not missed.
    use.scan(
        rows,
        Store.Table.DELAYED,
        (key, value) -> use.mark(DelayedBatch.decode(value).place()),
        pause);
    use.scan(
        rows,
        Store.Table.INDEX,
        (key, value) -> use.mark(IndexEntry.decode(key, value).place()),
        pause);
    use.scan(rows, Store.Table.FAILURES, use::markFailed, pause);
    use.byFirstIndex.values().forEach(each -> each.end(bytes));
    return use;
  }

  private void scan(
      Function<Store.Table, Store.Cursor> rows, Store.Table table, Row row, Pause pause)
      throws IOException {
    try (Store.Cursor cursor = rows.apply(table)) {
      for (int read = 1; cursor.next(); read++) {
        row.mark(cursor.key(), cursor.value());
        if (read % STEP_ROWS == 0) {
          pause.afterStep();
        }
      }
    } catch (IllegalStateException closed) {
      throw new IOException("the store was closed before all of it was read", closed);
    }
  }

  /** The segment that should have a body; null if none has it. */
  private Use use(BatchPlace place) {
    if (bytes.applyAsInt(place.index()) == 0) {
      missing.add(place.index());
      return null;
    }
    Map.Entry<Long, Use> segment = byFirstIndex.floorEntry(place.index());
    return segment == null ? null : segment.getValue();
  }

  private void mark(BatchPlace place) {
    Use use = use(place);
    if (use != null) {
      use.mark(place.index(), bytes);
    }
  }

  private void markFailed(byte[] key, byte[] value) {
    KeptMessage kept = FailureKeys.hasMessage(key) ? KeptMessage.decode(value) : null;
    if (kept == null || kept.place() == null) {
      return;
    }
    if (messages == messagesMax) {
      mark(kept.place());
      return;
    }
    Use use = use(kept.place());
    int position = (int) (FailureKeys.offset(key) - kept.base());
    KeptPart.Needed message = new KeptPart.Needed(kept.place(), kept.batchBytes(), position);
    if (use != null && use.mark(new Ref(kept.place().index(), message, cost(kept)))) {
      messages++;
    }
  }

  /** What a message takes in a segment when its batch is not kept. */
  private static int cost(KeptMessage message) {
    return message.bytes() + 2 * BatchHeader.BYTES;
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
