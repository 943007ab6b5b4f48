package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.Shard;

/** A shard, and the epoch at which this consumer owns it. */
public record Ownership(String topic, Shard shard, long epoch) {
  @Override
  public String toString() {
    return topic + "/" + shard.shard() + "@" + epoch;
  }
}
