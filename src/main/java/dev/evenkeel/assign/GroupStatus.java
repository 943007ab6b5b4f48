package dev.evenkeel.assign;

/**
 * How evenly the shards of a group are owned: the five states of the shard balancer. A shard is
 * <em>unassigned</em> if no member that subscribes to it owns it. An <em>idle</em> consumer is a
 * member that owns no shard though it subscribes to some. A group is <em>heavily loaded</em> where
 * a shard could move to a subscriber that owns at least two fewer than its owner, or where such a
 * move could be made in a chain: a shard to another subscriber, which gives one of its own to a
 * third.
 */
public enum GroupStatus {
  /** Every shard has an owner, and none could move to make the load more even. */
  OK,
  UNASSIGNED_SHARD_WITH_CONSUMER_IDLE_EXISTS,
  UNASSIGNED_SHARD_WITHOUT_CONSUMER_IDLE_EXISTS,
  HEAVY_LOAD_BALANCE_NEEDED,
  HEAVY_LOAD_WITH_CONSUMER_IDLE_BALANCE_NEEDED
}
