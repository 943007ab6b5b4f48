package dev.evenkeel.protocol;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.TreeMap;

/** Commands and records as most tests want them: with the usual values of what they do not name. */
public final class Commands {
  private Commands() {}

  /** Without a lease of the whole group, to an owner with the usual timeout. */
  public static DataCommand.Grant grant(
      String group, Shard shard, String owner, String instance, long epoch, StartAt start) {
    return grant(group, shard, owner, instance, epoch, start, 0);
  }

  /** To an owner with the usual timeout. */
  public static DataCommand.Grant grant(
      String group,
      Shard shard,
      String owner,
      String instance,
      long epoch,
      StartAt start,
      long groupTerm) {
    long usual = Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT;
    return new DataCommand.Grant(group, shard, owner, instance, epoch, start, groupTerm, usual);
  }

  /** Progress of an owner that keeps no state. */
  public static DataCommand.Commit commit(String group, Shard shard, long epoch, long offset) {
    return commit(group, shard, epoch, offset, -1);
  }

  /** Progress of an owner that keeps state, and has none for the lease yet. */
  public static DataCommand.Commit commit(
      String group, Shard shard, long epoch, long offset, long emptyStateOffset) {
    return new DataCommand.Commit(group, shard, epoch, offset, emptyStateOffset, null);
  }

  /** In a cluster that never deleted a topic. */
  public static DataCommand.OpenShards openShards(
      int topicId, String topic, List<Integer> shards, TopicConfig config) {
    return new DataCommand.OpenShards(topicId, topic, shards, config, 0, List.of(), 0);
  }

  /** On all topics, with a limit above the epochs of tests. */
  public static DataCommand.ForgetLeases forgetLeases(String group) {
    return forgetLeases(group, 1_000);
  }

  /** On all topics. */
  public static DataCommand.ForgetLeases forgetLeases(String group, long epochMax) {
    int all = DataCommand.ForgetLeases.ALL_TOPICS;
    return new DataCommand.ForgetLeases(group, epochMax, all);
  }

  /** With the assignor that the group has. */
  public static MetaCommand.DeclareGroup declareGroup(
      String name, GroupPolicy policy, List<String> topics, StartAt start, boolean force) {
    return new MetaCommand.DeclareGroup(name, policy, topics, start, force, null, List.of());
  }

  /** A group whose topics were seen when it was. */
  public static GroupInfo group(
      String name,
      GroupPolicy policy,
      Collection<String> topics,
      long seenMillis,
      String assignor) {
    TreeMap<String, Long> seen = new TreeMap<>();
    topics.forEach(topic -> seen.put(topic, seenMillis));
    return new GroupInfo(
        name,
        policy,
        seen,
        StartAt.EARLIEST,
        1,
        seenMillis,
        assignor,
        Collections.emptySortedMap());
  }

  /** Of an owner with the usual timeout, never reset, without a lease of the whole group. */
  public static Lease lease(
      String group,
      Shard shard,
      long epoch,
      String owner,
      String instance,
      long committed,
      long stateOffset,
      byte[] state,
      Drain drain) {
    return new Lease(
        group,
        shard,
        epoch,
        owner,
        instance,
        committed,
        stateOffset,
        state,
        drain,
        0,
        Generation.FIRST,
        Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT,
        Lease.Stage.CONSUMING,
        null,
        null);
  }
}
