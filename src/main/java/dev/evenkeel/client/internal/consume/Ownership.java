package dev.evenkeel.client.internal.consume;

import dev.evenkeel.client.Delivery;
import dev.evenkeel.protocol.Shard;

/** A shard, and the epoch at which this consumer owns it. */
public record Ownership(String topic, Shard shard, long epoch) {
  /** Whether the message was handed out by this owner. */
  boolean has(Delivery message) {
    return message.epoch() == epoch
        && message.shard() == shard.shard()
        && message.topic().equals(topic);
  }

  @Override
  public String toString() {
    return topic + "/" + shard.shard() + "@" + epoch;
  }
}
