package dev.evenkeel.client;

/**
 * A shard that a consumer gets or lets go.
 *
 * @param topic name of the topic
 * @param shard index of the shard, from 0
 * @param epoch of the shard's lease: a fencing token that grows with each owner
 * @param member name of the consumer
 * @param offset the next offset to be consumed
 * @param generation how often the group was reset on the shard; -1 if this is not known
 */
public record ShardContext(
    String topic, int shard, long epoch, String member, long offset, long generation) {

  /** A context whose generation is not known. */
  public ShardContext(String topic, int shard, long epoch, String member, long offset) {
    this(topic, shard, epoch, member, offset, -1);
  }
}
