package dev.evenkeel.sim;

import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/** What is in the shards, whoever consumes it: messages, and what became of topics. */
final class ShardLogs {
  /** One shard. */
  static final class ShardLog {
    final List<String> keys = new ArrayList<>();
    final List<Long> sums = new ArrayList<>(List.of(0L));
    final List<Long> timestamps = new ArrayList<>();
    boolean dropped;
    private boolean sealed;

    /** When the shard was made, if that was not at the beginning; virtual time. */
    long madeMillis;

    private ShardLog(boolean dropped) {
      this.dropped = dropped;
    }
  }

  private final Map<Shard, ShardLog> shards = new TreeMap<>();
  private final Set<Integer> droppedTopics = new HashSet<>();
  private final Map<Integer, String> names = new HashMap<>();
  private final LongSupplier clock;

  /**
   * @param clock virtual time
   */
  ShardLogs(LongSupplier clock) {
    this.clock = clock;
  }

  /** Virtual time. */
  long now() {
    return clock.getAsLong();
  }

  ShardLog of(Shard shard) {
    return shards.computeIfAbsent(
        shard, each -> new ShardLog(droppedTopics.contains(each.topicId())));
  }

  /** The shard is sealed everywhere: nothing may be added any more. */
  void sealed(Shard shard) {
    of(shard).sealed = true;
  }

  void appended(Shard shard, String key, long timestampMillis) {
    ShardLog log = of(shard);
    if (log.sealed) {
      throw new SimulationFailure("a message comes into a sealed shard: " + shard + ", key " + key);
    }
    long weight = Tally.weight(shard.topicId(), shard.shard(), log.keys.size());
    log.keys.add(key);
    log.sums.add(log.sums.get(log.sums.size() - 1) + weight);
    log.timestamps.add(timestampMillis);
  }

  long end(Shard shard) {
    return of(shard).keys.size();
  }

  String key(Shard shard, long offset) {
    return of(shard).keys.get((int) offset);
  }

  void dropped(int topicId) {
    droppedTopics.add(topicId);
    shards.forEach((shard, log) -> log.dropped |= shard.topicId() == topicId);
  }

  boolean isDropped(Shard shard) {
    return of(shard).dropped;
  }

  /** A topic is made, perhaps again. */
  void named(int topicId, String name) {
    names.put(topicId, name);
  }

  String name(Shard shard) {
    return names.get(shard.topicId());
  }

  /** A shard is there from now on. */
  void made(Shard shard) {
    of(shard).madeMillis = now();
  }
}
