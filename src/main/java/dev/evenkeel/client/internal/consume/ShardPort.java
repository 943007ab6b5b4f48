package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;

/** An owned shard as its parts know it. Times are monotonic milliseconds. */
interface ShardPort extends Owned {
  OwnedShardState state();

  /** Whether the shard hands out messages and commits progress. */
  default boolean works() {
    return state() == OwnedShardState.RUNNING || state() == OwnedShardState.DRAINING;
  }

  /** Whether nothing begins, because the group is paused. */
  boolean isPaused();

  /** The shard may have messages to hand out. */
  void ready();

  /** Does what the state requires now. */
  void step(long now);

  /**
   * The shard has another owner, or may have one: nothing of it starts or is committed any more.
   */
  void lose(String why, long now);

  /** Loses the shard if a refusal says that it is another's. */
  default boolean fenced(RefusedException refused, long now) {
    boolean fenced = refused.refusal() == Refusal.FENCED;
    if (fenced) {
      lose(refused.getMessage(), now);
    }
    return fenced;
  }

  /**
   * The log may take something of this epoch at any time, although no answer is awaited any more:
   * nothing may begin under it any more.
   */
  void markSpent();
}
