package dev.evenkeel.dispatcher.core;

/** How a group does, as the planning step sees it. */
public enum GroupStatus {
  OK,
  UNASSIGNED_SHARD_WITH_CONSUMER_IDLE_EXISTS,
  UNASSIGNED_SHARD_WITHOUT_CONSUMER_IDLE_EXISTS
}
