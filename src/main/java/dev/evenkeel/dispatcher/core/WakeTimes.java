package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** When shards that wait shall be looked at again: one time a shard. */
final class WakeTimes {
  private record Entry(long atMillis, Shard shard) implements Comparable<Entry> {
    @Override
    public int compareTo(Entry other) {
      int byTime = Long.compare(atMillis, other.atMillis);
      return byTime != 0 ? byTime : shard.compareTo(other.shard);
    }
  }

  private final TreeSet<Entry> inOrder = new TreeSet<>();
  private final Map<Shard, Entry> byShard = new HashMap<>();

  /**
   * @param atMillis {@link Long#MAX_VALUE}: not before something happens
   */
  void set(Shard shard, long atMillis) {
    remove(shard);
    if (atMillis != Long.MAX_VALUE) {
      Entry entry = new Entry(atMillis, shard);
      byShard.put(shard, entry);
      inOrder.add(entry);
    }
  }

  void remove(Shard shard) {
    Entry entry = byShard.remove(shard);
    if (entry != null) {
      inOrder.remove(entry);
    }
  }

  /** Those whose time has come; they wait no more. */
  List<Shard> takeDue(long nowMillis) {
    List<Shard> due = new ArrayList<>();
    while (!inOrder.isEmpty() && inOrder.first().atMillis() <= nowMillis) {
      Shard shard = inOrder.pollFirst().shard();
      byShard.remove(shard);
      due.add(shard);
    }
    return due;
  }
}
