package dev.evenkeel.assign;

/**
 * How evenly the shards of a group are owned: the five states of the shard balancer. A shard is
 * <em>unassigned</em> if no member that subscribes to it owns it. An <em>idle</em> consumer is a
 * member that owns no shard though it subscribes to some. A group is <em>heavily loaded</em> where
 * the plan of its assignor takes a shard from a member that owns it.
 */
public enum GroupStatus {
  /** Every shard has an owner, and is to stay there. */
  OK,
  UNASSIGNED_SHARD_WITH_CONSUMER_IDLE_EXISTS,
  UNASSIGNED_SHARD_WITHOUT_CONSUMER_IDLE_EXISTS,
  HEAVY_LOAD_BALANCE_NEEDED,
  HEAVY_LOAD_WITH_CONSUMER_IDLE_BALANCE_NEEDED
}
