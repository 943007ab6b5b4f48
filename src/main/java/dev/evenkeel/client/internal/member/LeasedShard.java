package dev.evenkeel.client.internal.member;

import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.ShardContext;

/** A shard under one lease, as handlers know it. */
record LeasedShard(String topic, int shard, long epoch) {
  static LeasedShard of(ShardContext shard) {
    return new LeasedShard(shard.topic(), shard.shard(), shard.epoch());
  }

  static LeasedShard of(Delivery message) {
    return new LeasedShard(message.topic(), message.shard(), message.epoch());
  }
}
