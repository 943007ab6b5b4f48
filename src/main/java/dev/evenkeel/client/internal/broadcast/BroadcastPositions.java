package dev.evenkeel.client.internal.broadcast;

import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Where a consumer in mode broadcast stands in each shard, and where it begins in one that it does
 * not know: as it was told in a topic that it reads for the first time, and at the earliest message
 * in a shard that has come to a known topic, or in a topic that was deleted and made again. Not
 * safe for threads.
 */
public final class BroadcastPositions {
  /** A shard to begin with. */
  public record Beginning(Shard shard, StartAt start) {}

  private final String group;
  private final String member;
  private final StartAt start;
  private final TreeMap<String, Offsets.Topic> topics = new TreeMap<>();
  private String cluster;

  /** Knows nothing yet. */
  BroadcastPositions(String group, String member, StartAt start) {
    this.group = group;
    this.member = member;
    this.start = start;
  }

  /**
   * Knows what was stored.
   *
   * @param start where to begin in topics of which nothing was stored
   */
  BroadcastPositions(Offsets stored, StartAt start) {
    this(stored.group(), stored.member(), start);
    cluster = stored.cluster();
    stored.topics().forEach(each -> topics.put(each.name(), each.copy()));
  }

  public String member() {
    return member;
  }

  /** Id of the cluster that the offsets are of; null as long as none is known. */
  public String cluster() {
    return cluster;
  }

  /** Says which cluster it is. */
  public void cluster(String clusterId) {
    cluster = clusterId;
  }

  /** Whether offsets are known of a topic of that name that was another one. */
  public boolean wasAnother(TopicInfo topic) {
    Offsets.Topic entry = topics.get(topic.name());
    return entry != null && entry.id() != topic.id();
  }

  /** Shards of the topic of which nothing is known, by number. */
  public List<Beginning> beginnings(TopicInfo topic) {
    Offsets.Topic entry = topics.get(topic.name());
    StartAt at = entry == null ? start : StartAt.EARLIEST;
    List<Beginning> missing = new ArrayList<>();
    for (int i = 0; i < topic.shards(); i++) {
      if (entry == null || entry.id() != topic.id() || !entry.next().containsKey(i)) {
        missing.add(new Beginning(new Shard(topic.id(), i), at));
      }
    }
    return missing;
  }

  /**
   * Takes up shards of a topic. Those of another topic of that name are forgotten.
   *
   * @param offsets by shard: the first offset to be consumed
   */
  public void begin(TopicInfo topic, Map<Shard, Long> offsets) {
    Offsets.Topic entry = topics.get(topic.name());
    if (entry == null || entry.id() != topic.id()) {
      entry = new Offsets.Topic(topic.name(), topic.id(), new TreeMap<>());
      topics.put(topic.name(), entry);
    }
    for (Map.Entry<Shard, Long> each : offsets.entrySet()) {
      entry.next().putIfAbsent(each.getKey().shard(), each.getValue());
    }
  }

  /** All below {@code next} is done. It never goes back. */
  public void done(Shard shard, long next) {
    nextOf(shard).computeIfPresent(shard.shard(), (any, before) -> Math.max(before, next));
  }

  /** The next offset to be consumed; -1 if the shard is not known. */
  public long next(Shard shard) {
    return nextOf(shard).getOrDefault(shard.shard(), -1L);
  }

  private Map<Integer, Long> nextOf(Shard shard) {
    return topics.values().stream()
        .filter(topic -> topic.id() == shard.topicId())
        .findFirst()
        .<Map<Integer, Long>>map(Offsets.Topic::next)
        .orElseGet(TreeMap::new);
  }

  /** What is to be stored. */
  Offsets offsets() {
    List<Offsets.Topic> all = topics.values().stream().map(Offsets.Topic::copy).toList();
    return new Offsets(cluster, group, member, all);
  }
}
