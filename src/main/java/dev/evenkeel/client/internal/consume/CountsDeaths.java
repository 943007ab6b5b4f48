package dev.evenkeel.client.internal.consume;

import dev.evenkeel.client.ShardContext;
import dev.evenkeel.protocol.Crashes;
import dev.evenkeel.protocol.Shard;

/**
 * A handler that hands messages on to those who may die of them. It counts deaths by message and
 * takes care of suspects itself, so the consumer around it does not.
 */
public interface CountsDeaths {
  /**
   * Called before onAssign.
   *
   * @param id the shard by the id of its topic, which no other topic of that name has
   * @param crashes what the log knew of former deaths when the shard was granted; null: nothing
   */
  void diedBefore(ShardContext shard, Shard id, Crashes crashes);
}
