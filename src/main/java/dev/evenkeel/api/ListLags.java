package dev.evenkeel.api;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * How far a group is behind, by topic.
 *
 * @param group name of the group
 */
public record ListLags(String group) {
  /**
   * How far the group is behind in a topic.
   *
   * @param shards how many shards of the topic it reads
   * @param lag messages that it has not finished; null if that of a shard is unknown
   */
  public record TopicLag(String topic, int shards, @Nullable Long lag) {}

  /** The lags of a group, by the names of its topics. */
  public static List<TopicLag> of(GroupView group) {
    Map<String, TopicLag> byTopic = new TreeMap<>();
    group
        .shards()
        .forEach(
            shard ->
                byTopic.merge(
                    shard.topic(), new TopicLag(shard.topic(), 1, shard.lag()), ListLags::sum));
    return List.copyOf(byTopic.values());
  }

  private static TopicLag sum(TopicLag one, TopicLag other) {
    boolean unknown = one.lag == null || other.lag == null;
    return new TopicLag(
        one.topic,
        one.shards + other.shards,
        unknown
            ? null
            : (Long) (Objects.requireNonNull(one.lag) + Objects.requireNonNull(other.lag)));
  }
}
