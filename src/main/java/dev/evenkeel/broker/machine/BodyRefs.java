package dev.evenkeel.broker.machine;

import dev.evenkeel.broker.state.DelayedBatch;
import dev.evenkeel.broker.state.FailureKeys;
import dev.evenkeel.broker.state.IndexEntry;
import dev.evenkeel.broker.state.KeptMessage;
import dev.evenkeel.broker.state.Keys;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.storage.Store;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/** Which batches of the state lie in the bodies of some log entries. */
public final class BodyRefs {
  /**
   * A batch that lies in a body.
   *
   * @param entry where it lies in its shard; null: it is delayed, and has no offsets yet
   * @param count its messages
   */
  public record Ref(Shard shard, IndexEntry entry, long count) {}

  private final SortedMap<Long, List<Ref>> byIndex = new TreeMap<>();

  /** Bodies with the messages of retries and dead letters. */
  private final Set<Long> failed = new TreeSet<>();

  private BodyRefs() {}

  /**
   * Looks through everything that refers to bodies. Waits for the disk.
   *
   * @param indices of the log entries
   */
  public static BodyRefs of(Store store, Set<Long> indices) {
    BodyRefs refs = new BodyRefs();
    // In the order of BodyUse, for the same reason.
    try (Store.Cursor cursor = store.scan(Store.Table.DELAYED, Keys.first(), Keys.last())) {
      while (cursor.next()) {
        DelayedBatch delayed = DelayedBatch.decode(cursor.value());
        if (indices.contains(delayed.place().index())) {
          Ref ref = new Ref(Keys.shard(cursor.key()), null, delayed.batch().count());
          refs.add(delayed.place().index(), ref);
        }
      }
    }
    try (Store.Cursor cursor = store.scan(Store.Table.INDEX, Keys.first(), Keys.last())) {
      while (cursor.next()) {
        IndexEntry entry = IndexEntry.decode(cursor.key(), cursor.value());
        if (indices.contains(entry.place().index())) {
          Ref ref = new Ref(Keys.shard(cursor.key()), entry, entry.end() - entry.base());
          refs.add(entry.place().index(), ref);
        }
      }
    }
    try (Store.Cursor cursor = store.scan(Store.Table.FAILURES, Keys.first(), Keys.last())) {
      while (cursor.next()) {
        KeptMessage kept =
            FailureKeys.hasMessage(cursor.key()) ? KeptMessage.decode(cursor.value()) : null;
        if (kept != null && kept.place() != null && indices.contains(kept.place().index())) {
          refs.failed.add(kept.place().index());
        }
      }
    }
    return refs;
  }

  private void add(long index, Ref ref) {
    byIndex.computeIfAbsent(index, any -> new ArrayList<>()).add(ref);
  }

  /** Whether the state needs the body of this entry. */
  public boolean needs(long index) {
    return byIndex.containsKey(index) || failed.contains(index);
  }

  /** The batches in the body of an entry. */
  public List<Ref> in(long index) {
    return byIndex.getOrDefault(index, List.of());
  }

  /** Whether messages in the body of an entry are retries or dead letters. */
  public boolean hasFailures(long index) {
    return failed.contains(index);
  }
}
