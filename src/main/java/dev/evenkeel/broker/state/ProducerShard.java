package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.Shard;

/** A producer in a shard. Sorted by producer, so that one's rings lie together. */
public record ProducerShard(long producerId, Shard shard) implements Comparable<ProducerShard> {
  @Override
  public int compareTo(ProducerShard other) {
    int byProducer = Long.compare(producerId, other.producerId);
    return byProducer != 0 ? byProducer : shard.compareTo(other.shard);
  }
}
