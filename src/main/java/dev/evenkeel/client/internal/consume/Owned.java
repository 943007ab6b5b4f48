package dev.evenkeel.client.internal.consume;

import dev.evenkeel.client.internal.consume.ConsumerAction.ShardRequest;
import dev.evenkeel.protocol.Shard;

/** A shard that a consumer owns at one epoch, as actions name it. */
public interface Owned {
  Ownership ownership();

  default Shard shard() {
    return ownership().shard();
  }

  default long epoch() {
    return ownership().epoch();
  }

  /** See {@link ConsumerCore#answered}, which alone calls it. */
  void answered(ShardRequest<?> request, Answer<?> answer, long now);
}
