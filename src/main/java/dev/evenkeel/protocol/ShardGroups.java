package dev.evenkeel.protocol;

import java.util.Collection;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Which data log group holds a shard. Shards are in the groups with which the cluster was formed,
 * unless the layout of their topic names others.
 *
 * @param formedGroups how many data log groups the cluster was formed with; 0: it is not known yet
 * @param placed the topics whose layouts name log groups, by id
 */
public record ShardGroups(int formedGroups, Map<Integer, TopicInfo> placed) {
  /** Before anything is known. */
  public static final ShardGroups UNKNOWN = formed(0);

  public ShardGroups {
    placed = Map.copyOf(placed);
  }

  /** The name of a data log group. */
  public static String name(int number) {
    return "d" + number;
  }

  /** Of a cluster whose log groups are those with which it was formed. */
  public static ShardGroups formed(int groups) {
    return new ShardGroups(groups, Map.of());
  }

  public static ShardGroups of(int formedGroups, Collection<TopicInfo> topics) {
    return new ShardGroups(
        formedGroups,
        topics.stream()
            .filter(TopicInfo::isPlaced)
            .collect(Collectors.toMap(TopicInfo::id, topic -> topic)));
  }

  public boolean known() {
    return formedGroups > 0;
  }

  /** The index of the data log group; any if nothing is known. */
  public int of(Shard shard) {
    TopicInfo topic = placed.get(shard.topicId());
    int formed = Math.max(1, formedGroups);
    return topic == null ? shard.dataGroup(formed) : topic.group(shard.shard(), formed);
  }
}
