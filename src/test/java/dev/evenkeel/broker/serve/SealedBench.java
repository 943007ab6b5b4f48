package dev.evenkeel.broker.serve;

import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import java.util.Map;

/** Whether anybody needs sealed shards, for simulations elsewhere. */
public final class SealedBench {
  private SealedBench() {}

  /** As {@link SealedNeed#isOver}. */
  public static boolean isOver(TopicInfo topic, Map<Shard, ShardStatus> statuses) {
    return SealedNeed.isOver(topic, statuses);
  }
}
