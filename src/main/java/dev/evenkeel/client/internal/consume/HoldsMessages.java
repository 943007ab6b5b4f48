package dev.evenkeel.client.internal.consume;

import dev.evenkeel.client.ShardContext;

/** A handler that holds messages for others, who begin them later. */
public interface HoldsMessages {
  /**
   * A shard of it is paused, or no longer: what nobody has begun is to be given back. While it is
   * paused, nothing more comes. Called again when a handover was called off.
   */
  void paused(ShardContext shard, boolean on);
}
