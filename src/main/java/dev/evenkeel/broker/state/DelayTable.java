package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;

/**
 * Which shards of a data log group have delayed messages, and which of them is due first: a few
 * numbers a shard. Altered on the applying thread, read from any.
 */
public final class DelayTable {
  private record Due(long millis, Shard shard) implements Comparable<Due> {
    @Override
    public int compareTo(Due other) {
      int byTime = Long.compare(millis, other.millis);
      return byTime != 0 ? byTime : shard.compareTo(other.shard);
    }
  }

  private final NavigableMap<Shard, DelayCounts> counts = new ConcurrentSkipListMap<>();
  private final NavigableSet<Due> byDue = new ConcurrentSkipListSet<>();
  private final Set<Shard> sealed = ConcurrentHashMap.newKeySet();

  void put(Shard shard, DelayCounts now) {
    DelayCounts before =
        now.equals(DelayCounts.NONE) ? counts.remove(shard) : counts.put(shard, now);
    if (before != null && before.dueMillis() != now.dueMillis()) {
      byDue.remove(new Due(before.dueMillis(), shard));
    }
    if (!now.isEmpty() && !sealed.contains(shard)) {
      byDue.add(new Due(now.dueMillis(), shard));
    }
  }

  /** What is delayed in the shard is never due there: it goes on to another shard. */
  void seal(Shard shard) {
    sealed.add(shard);
    byDue.remove(new Due(of(shard).dueMillis(), shard));
  }

  /** Sealed shards that still have delayed messages, sorted. */
  public List<Shard> sealed() {
    return sealed.stream().filter(shard -> !of(shard).isEmpty()).sorted().toList();
  }

  void remove(Shard shard) {
    put(shard, DelayCounts.NONE);
    sealed.remove(shard);
  }

  public DelayCounts of(Shard shard) {
    return counts.getOrDefault(shard, DelayCounts.NONE);
  }

  /** Shards of the topic that have delayed messages, sorted. */
  public List<Shard> of(int topicId) {
    return counts.subMap(new Shard(topicId, 0), new Shard(topicId + 1, 0)).entrySet().stream()
        .filter(each -> !each.getValue().isEmpty())
        .map(Map.Entry::getKey)
        .toList();
  }

  /** When the next batch of any shard is due, or {@link Long#MAX_VALUE}. */
  public long nextDueMillis() {
    // Not first(), which fails if the last one goes meanwhile.
    for (Due due : byDue) {
      return due.millis();
    }
    return Long.MAX_VALUE;
  }

  /** Shards with something due at {@code nowMillis}, the one due first in front. */
  public List<Shard> dueAt(long nowMillis) {
    List<Shard> shards = new ArrayList<>();
    for (Due due : byDue) {
      if (due.millis() > nowMillis) {
        break;
      }
      shards.add(due.shard());
    }
    return shards;
  }
}
