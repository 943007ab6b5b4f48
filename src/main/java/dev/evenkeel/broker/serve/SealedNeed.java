package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import java.util.function.Function;

/** Whether anybody still needs the sealed shards of a topic's oldest layout. */
final class SealedNeed {
  private SealedNeed() {}

  /**
   * Whether the shards are empty, every group is finished with them, and the states that groups
   * left there live on in later shards.
   *
   * @param tables of the log group that has a shard
   */
  static boolean isOver(TopicInfo topic, Function<Shard, DataTables> tables) {
    return topic
        .layouts()
        .get(0)
        .numbers()
        .mapToObj(number -> new Shard(topic.id(), number))
        .allMatch(shard -> isOver(topic, shard, tables));
  }

  private static boolean isOver(TopicInfo topic, Shard shard, Function<Shard, DataTables> tables) {
    DataTables own = tables.apply(shard);
    ShardRecord record = own.shard(shard);
    return record != null
        && record.sealed()
        && record.start() == record.end()
        && own.delays().of(shard).isEmpty()
        && own.failuresOn(shard).stream().allMatch(key -> own.failures(key).isEmpty())
        && own.leasesOn(shard).stream()
            .allMatch(lease -> lease.finished() && livesOn(topic, lease, tables));
  }

  /** Whether no later owner begins with the state that the group left on this shard. */
  private static boolean livesOn(TopicInfo topic, Lease lease, Function<Shard, DataTables> tables) {
    if (lease.state() == null) {
      return true;
    }
    return topic.children(lease.shard().shard()).stream()
        .map(number -> new Shard(topic.id(), number))
        .map(child -> tables.apply(child).lease(lease.group(), child))
        .allMatch(
            child ->
                child != null
                    && (child.state() == null ? child.committed() > 0 : child.stateOffset() > 0));
  }
}
