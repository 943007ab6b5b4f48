package dev.evenkeel.bus;

import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Shard;
import io.vertx.core.json.JsonObject;

/**
 * A lease was granted, drained, released or forgotten. A hint: who misses it finds out by reading.
 *
 * @param owner null while nobody owns the shard
 * @param groupTerm highest term of the group's lease that a grant named; 0: none did
 * @param ownerTimeoutMillis silence after which the owner counts as dead
 */
public record LeaseChange(
    String group,
    Shard shard,
    long epoch,
    String owner,
    String instance,
    long committed,
    long groupTerm,
    long ownerTimeoutMillis) {

  /** Of a group that has no lease of the whole. */
  public LeaseChange(
      String group, Shard shard, long epoch, String owner, String instance, long committed) {
    this(group, shard, epoch, owner, instance, committed, 0, Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT);
  }

  public static LeaseChange of(Lease lease) {
    return new LeaseChange(
        lease.group(),
        lease.shard(),
        lease.epoch(),
        lease.owner(),
        lease.instance(),
        lease.committed(),
        lease.groupTerm(),
        lease.ownerTimeoutMillis());
  }

  public JsonObject toJson() {
    return new JsonObject()
        .put("group", group)
        .put("topicId", shard.topicId())
        .put("shard", shard.shard())
        .put("epoch", epoch)
        .put("owner", owner)
        .put("instance", instance)
        .put("committed", committed)
        .put("groupTerm", groupTerm)
        .put("ownerTimeoutMillis", ownerTimeoutMillis);
  }

  public static LeaseChange fromJson(JsonObject json) {
    return new LeaseChange(
        json.getString("group"),
        new Shard(json.getInteger("topicId"), json.getInteger("shard")),
        json.getLong("epoch"),
        json.getString("owner"),
        json.getString("instance"),
        json.getLong("committed"),
        json.getLong("groupTerm", 0L),
        json.getLong("ownerTimeoutMillis", Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT));
  }
}
