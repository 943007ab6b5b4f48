package dev.evenkeel.cli;

import dev.evenkeel.api.GroupView;
import dev.evenkeel.protocol.GroupPolicy;

/** Whether a member of a group that gets no messages is to get some later. */
final class KnownWork {
  private KnownWork() {}

  /**
   * Why the member is to wait; null: nothing is known to come.
   *
   * @param group as the cluster shows it
   */
  static String of(GroupView group, String member) {
    if (GroupPolicy.MODE_BROADCAST.equals(group.mode())) {
      // The cluster does not know what its members have read.
      return null;
    }
    if (group.paused()) {
      return "the group is paused";
    }
    GroupView.Failures failures = group.failures();
    if (failures != null && failures.retriesWaiting() + failures.parked() > 0) {
      return "messages wait for a retry";
    }
    for (GroupView.Shard shard : group.shards()) {
      if (!member.equals(shard.owner())) {
        continue;
      }
      if (shard.paused()) {
        return shard.name() + " is paused";
      }
      if (shard.lag() == null) {
        return shard.name() + " cannot be read now";
      }
      if (shard.lag() > 0) {
        return shard.name() + " has messages";
      }
    }
    return null;
  }
}
