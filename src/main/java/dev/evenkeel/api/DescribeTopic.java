package dev.evenkeel.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A topic with its shards.
 *
 * @param name name of the topic
 */
public record DescribeTopic(String name) {
  /**
   * A topic with its shards.
   *
   * @param logGroups the data groups that have shards of the topic, as their leaders store them.
   *     Other topics share them
   */
  public record TopicDetail(
      @Inline TopicView topic, List<ShardDetail> shardList, List<LogGroupDetail> logGroups) {}

  /**
   * A shard of the topic.
   *
   * @param sealed it takes no more messages, since the topic has other shards now
   * @param parents the sealed shards from which its keys come
   * @param start first offset kept
   * @param end next offset
   * @param bytes bytes kept
   * @param delayed delayed messages that are not due yet
   * @param nextDueMillis when the next of them is due, milliseconds since 1970
   * @param logGroup the log group that holds the shard
   * @param leader node
   */
  public record ShardDetail(
      int shard,
      boolean sealed,
      List<Integer> parents,
      @Nullable Long start,
      @Nullable Long end,
      @Nullable Long bytes,
      @Nullable Long delayed,
      @Nullable Long nextDueMillis,
      String logGroup,
      @Nullable String leader) {}

  /**
   * A data group that has shards of the topic.
   *
   * @param leader node
   * @param liveBytes bytes of stored messages that are needed; null if unknown
   * @param deadBytes bytes of messages that were dropped or deleted and still take space; null if
   *     unknown
   * @param lostMessages messages of which every node's copy is damaged, as far as the leader knows;
   *     null if unknown
   */
  public record LogGroupDetail(
      String group,
      @Nullable String leader,
      @Nullable Long liveBytes,
      @Nullable Long deadBytes,
      @Nullable Long lostMessages) {}
}
