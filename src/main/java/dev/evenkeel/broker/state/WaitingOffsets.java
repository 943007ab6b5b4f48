package dev.evenkeel.broker.state;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The offsets that wait in each key's queue, a copy of rows of table FAILURES in memory. Queues are
 * always read from their beginning, where most rows have been deleted: the store would step over
 * all deleted rows each time. Only for the applying thread.
 */
public final class WaitingOffsets {
  private final Map<LeaseKey, Map<Long, NavigableSet<Long>>> queues = new TreeMap<>();

  /** Offsets of a key's queue, in their order; a view. */
  public NavigableSet<Long> of(LeaseKey key, long keyHash) {
    NavigableSet<Long> offsets = queues.getOrDefault(key, Map.of()).get(keyHash);
    return offsets == null
        ? Collections.emptyNavigableSet()
        : Collections.unmodifiableNavigableSet(offsets);
  }

  /** Follows a row of table FAILURES that was written or deleted. */
  void row(LeaseKey key, FailureKeys keys, byte[] row, boolean there) {
    if (!keys.isOf(FailureKeys.QUEUE, row)) {
      return;
    }
    long keyHash = FailureKeys.first(row);
    long offset = FailureKeys.offset(row);
    Map<Long, NavigableSet<Long>> mine = queues.computeIfAbsent(key, any -> new HashMap<>());
    NavigableSet<Long> offsets = mine.computeIfAbsent(keyHash, any -> new TreeSet<>());
    if (there) {
      offsets.add(offset);
    } else {
      offsets.remove(offset);
    }
    if (offsets.isEmpty()) {
      mine.remove(keyHash);
    }
    if (mine.isEmpty()) {
      queues.remove(key);
    }
  }

  void remove(LeaseKey key) {
    queues.remove(key);
  }
}
