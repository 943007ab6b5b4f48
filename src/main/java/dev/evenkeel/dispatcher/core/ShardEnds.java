package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Where shards ended when their leaders were last asked. */
final class ShardEnds {
  private final Map<Shard, Long> ends = new HashMap<>();

  void read(List<ShardStatus> statuses) {
    statuses.forEach(status -> ends.put(status.shard(), status.endOffset()));
  }

  /** Those of other topics are forgotten. */
  void retain(Topics topics) {
    ends.keySet().removeIf(shard -> !topics.has(shard));
  }

  /**
   * Messages that a group has not consumed; null if that is unknown.
   *
   * @param lease of the group, or null if it has none
   */
  Long lag(Shard shard, Lease lease) {
    Long end = ends.get(shard);
    return end == null || lease == null ? null : (Long) Math.max(0, end - lease.committed());
  }
}
