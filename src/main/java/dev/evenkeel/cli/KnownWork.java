package dev.evenkeel.cli;

import dev.evenkeel.client.Admin;
import dev.evenkeel.protocol.GroupPolicy;
import io.vertx.core.json.JsonObject;

/** Whether a member of a group that gets no messages is to get some later. */
final class KnownWork {
  private KnownWork() {}

  /**
   * Why the member is to wait; null: nothing is known to come.
   *
   * @param group as the cluster shows it
   */
  static String of(Admin.Group group, String member) {
    if (GroupPolicy.MODE_BROADCAST.equals(group.mode())) {
      // The cluster does not know what its members have read.
      return null;
    }
    if (group.json().getBoolean("paused", false)) {
      return "the group is paused";
    }
    JsonObject failures = group.json().getJsonObject("failures");
    if (failures != null && count(failures, "retriesWaiting") + count(failures, "parked") > 0) {
      return "messages wait for a retry";
    }
    for (Admin.Shard shard : group.shards()) {
      if (!member.equals(shard.owner())) {
        continue;
      }
      if (shard.json().getBoolean("paused", false)) {
        return shard.topic() + "/" + shard.shard() + " is paused";
      }
      if (shard.lag() == null) {
        return shard.topic() + "/" + shard.shard() + " cannot be read now";
      }
      if (shard.lag() > 0) {
        return shard.topic() + "/" + shard.shard() + " has messages";
      }
    }
    return null;
  }

  private static long count(JsonObject json, String field) {
    return json.getLong(field, 0L);
  }
}
