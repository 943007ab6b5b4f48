package dev.evenkeel.broker.serve;

import dev.evenkeel.bus.FailureFigures;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import java.util.List;
import java.util.Map;

/** Whether anybody still needs the sealed shards of a topic's oldest layout. */
final class SealedNeed {
  private SealedNeed() {}

  /**
   * Whether the shards are empty, every group is finished with them, and the states that groups
   * left there live on in later shards.
   *
   * @param topic with sealed shards
   * @param statuses from the leaders of the shards; one that is missing may be needed
   */
  static boolean isOver(TopicInfo topic, Map<Shard, ShardStatus> statuses) {
    return topic
        .layouts()
        .get(0)
        .numbers()
        .mapToObj(number -> statuses.get(new Shard(topic.id(), number)))
        .allMatch(status -> status != null && isOver(topic, status, statuses));
  }

  private static boolean isOver(
      TopicInfo topic, ShardStatus status, Map<Shard, ShardStatus> statuses) {
    return status.startOffset() == status.endOffset()
        && status.delayed().messages() == 0
        && status.failures().stream().noneMatch(SealedNeed::anyLeft)
        && status.leases().stream()
            .allMatch(lease -> lease.finished() && livesOn(topic, lease, statuses));
  }

  private static boolean anyLeft(FailureFigures figures) {
    return figures.waiting() + figures.parked() + figures.held() + figures.dead() > 0;
  }

  /** Whether no later owner begins with the state that the group left on this shard. */
  private static boolean livesOn(TopicInfo topic, Lease lease, Map<Shard, ShardStatus> statuses) {
    return !hasState(lease) || allGoOn(topic, lease.shard(), lease.group(), statuses);
  }

  /**
   * Whether every child has gone on from what it took over. One that is finished without a message
   * has not: its own children take it over from the parents. Nor has one with a lease that was
   * opened where the shard begins, if nobody has consumed anything since.
   */
  private static boolean allGoOn(
      TopicInfo topic, Shard shard, String group, Map<Shard, ShardStatus> statuses) {
    List<Integer> children = topic.children(shard.shard());
    return !children.isEmpty()
        && children.stream()
            .map(number -> statuses.get(new Shard(topic.id(), number)))
            .allMatch(child -> child != null && goesOn(topic, child, group, statuses));
  }

  private static boolean goesOn(
      TopicInfo topic, ShardStatus child, String group, Map<Shard, ShardStatus> statuses) {
    Lease lease = lease(child, group);
    if (lease == null) {
      return false;
    }
    boolean itself =
        hasState(lease) ? lease.stateOffset() > 0 : lease.committed() > child.startOffset();
    return itself || lease.finished() && allGoOn(topic, child.shard(), group, statuses);
  }

  private static boolean hasState(Lease lease) {
    return lease.stateOffset() >= 0;
  }

  private static Lease lease(ShardStatus status, String group) {
    return status.leases().stream()
        .filter(lease -> lease.group().equals(group))
        .findFirst()
        .orElse(null);
  }
}
