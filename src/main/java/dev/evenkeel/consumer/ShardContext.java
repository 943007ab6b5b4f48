package dev.evenkeel.consumer;

/**
 * A shard that a consumer gets or lets go.
 *
 * @param topic name of the topic
 * @param shard index of the shard
 * @param epoch of the lease
 * @param member name of the consumer
 * @param offset the next offset to be consumed
 */
public record ShardContext(String topic, int shard, long epoch, String member, long offset) {}
