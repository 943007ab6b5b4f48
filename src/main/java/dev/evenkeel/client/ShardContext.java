package dev.evenkeel.client;

import dev.evenkeel.protocol.wire.Murmur2;
import java.nio.charset.StandardCharsets;

/**
 * A shard that a consumer gets or lets go.
 *
 * @param topic name of the topic
 * @param shard number of the shard, from 0
 * @param epoch of the shard's lease: a fencing token that grows with each owner
 * @param member name of the consumer
 * @param offset the next offset to be consumed
 * @param generation how often the group was reset on the shard; -1 if this is not known
 * @param firstShard number of the first shard that was opened together with this one, if that was
 *     when the number of the topic's shards changed
 * @param shards how many shards were opened then; 0: it was not then
 */
public record ShardContext(
    String topic,
    int shard,
    long epoch,
    String member,
    long offset,
    long generation,
    int firstShard,
    int shards) {

  /** A context of a shard that has been there since its topic was created. */
  public ShardContext(
      String topic, int shard, long epoch, String member, long offset, long generation) {
    this(topic, shard, epoch, member, offset, generation, 0, 0);
  }

  /** The same, of which the generation is not known. */
  public ShardContext(String topic, int shard, long epoch, String member, long offset) {
    this(topic, shard, epoch, member, offset, -1);
  }

  /**
   * Whether messages with this key come to this shard and not to another one that was opened
   * together with it, unless a {@link Router} sends them elsewhere. Always true for a shard that
   * has been there since its topic was created.
   */
  public boolean hasKey(byte[] key) {
    return shards == 0 || firstShard + Murmur2.shard(key, shards) == shard;
  }

  /** The same for a key in UTF-8. */
  public boolean hasKey(String key) {
    return hasKey(key.getBytes(StandardCharsets.UTF_8));
  }
}
