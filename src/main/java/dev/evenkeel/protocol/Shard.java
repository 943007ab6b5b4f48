package dev.evenkeel.protocol;

import static dev.evenkeel.protocol.Refusal.INVALID;

/**
 * One shard of a topic, by the topic's number. A topic that is deleted and created again under the
 * same name has another number, so that nothing of the old one can reach the new one.
 *
 * @param topicId number of the topic, from 1
 * @param shard index of the shard within the topic, from 0
 */
public record Shard(int topicId, int shard) implements Comparable<Shard> {
  /**
   * @throws RefusedException INVALID unless there may be such a shard
   */
  public void check() {
    if (topicId < 1 || shard < 0 || shard >= Limits.SHARD_NUMBERS_MAX) {
      throw INVALID.error(
          "shard %s: topics count from 1, and shards from 0 to %s",
          this, Limits.SHARD_NUMBERS_MAX - 1);
    }
  }

  @Override
  public int compareTo(Shard other) {
    int byTopic = Integer.compare(topicId, other.topicId);
    return byTopic != 0 ? byTopic : Integer.compare(shard, other.shard);
  }

  /**
   * The index of the data log group, of {@code dataGroups}, that holds this shard, unless its topic
   * says otherwise: see {@link ShardGroups}.
   */
  public int dataGroup(int dataGroups) {
    return Math.floorMod(topicId + shard, dataGroups);
  }

  @Override
  public String toString() {
    return topicId + "/" + shard;
  }
}
