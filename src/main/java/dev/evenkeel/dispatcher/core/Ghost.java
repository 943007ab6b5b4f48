package dev.evenkeel.dispatcher.core;

import java.util.List;

/**
 * A run of a member that this dispatcher knows only from the registry or from a lease, and has not
 * heard yet. It counts as alive until {@code untilMillis}, so that a change of the dispatcher moves
 * no shard.
 *
 * @param bornMillis null if only a lease tells of it
 * @param topics null if only a lease tells of it
 * @param clusterMember null if unknown
 * @param crashLockTimeMillis how long its shards wait, after its death, for a release; 0 if unknown
 */
public record Ghost(
    String group,
    String name,
    String instance,
    Long bornMillis,
    List<String> topics,
    String clusterMember,
    String host,
    long untilMillis,
    long crashLockTimeMillis) {

  /** One whose shards wait for nothing after its death. */
  public Ghost(
      String group,
      String name,
      String instance,
      Long bornMillis,
      List<String> topics,
      String clusterMember,
      String host,
      long untilMillis) {
    this(group, name, instance, bornMillis, topics, clusterMember, host, untilMillis, 0);
  }
}
