package dev.evenkeel.client;

/**
 * A shard that a consumer gets or lets go.
 *
 * @param topic name of the topic
 * @param shard index of the shard
 * @param epoch of the lease
 * @param member name of the consumer
 * @param offset the next offset to be consumed
 * @param generation how often the group was reset on the shard; -1 if the lease was not read, which
 *     only some consumers do
 */
public record ShardContext(
    String topic, int shard, long epoch, String member, long offset, long generation) {

  /** Of a lease that was not read. */
  public ShardContext(String topic, int shard, long epoch, String member, long offset) {
    this(topic, shard, epoch, member, offset, -1);
  }
}
