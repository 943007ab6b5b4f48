package dev.evenkeel.client.internal.broadcast;

import static dev.evenkeel.protocol.StartAt.EARLIEST;

import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.TopicPattern;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The next offset of a consumer in mode broadcast in each shard. It begins where its options say in
 * a topic that it reads for the first time, and at the earliest message in a new shard of a known
 * topic, in a topic that was deleted and made again, or in one that was created after another that
 * the same pattern takes in: nothing of these is missed. Not thread-safe.
 */
public final class BroadcastPositions {
  /** A shard that is new to the consumer, and where to begin in it. */
  public record Beginning(Shard shard, StartAt start) {}

  private final String group;
  private final String member;
  private final StartAt start;
  private final TreeMap<String, Offsets.Topic> topics = new TreeMap<>();

  /** Where to begin in topics that had no offset when they were looked at first, by number. */
  private final Map<Integer, StartAt> starts = new HashMap<>();

  private String cluster;

  /** Positions of a consumer of which nothing was stored. */
  BroadcastPositions(String group, String member, StartAt start) {
    this.group = group;
    this.member = member;
    this.start = start;
  }

  /**
   * Positions from a file.
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

  /** Id of the cluster that the offsets belong to; null until one is known. */
  public String cluster() {
    return cluster;
  }

  /** Sets the cluster that the offsets belong to. */
  public void cluster(String clusterId) {
    cluster = clusterId;
  }

  /** Whether there are offsets of an earlier topic with the same name. */
  public boolean wasAnother(TopicInfo topic) {
    Offsets.Topic entry = topics.get(topic.name());
    return entry != null && entry.id() != topic.id();
  }

  /**
   * The shards of the topic without an offset, by number.
   *
   * @param patterns those by which the consumer reads the topic; empty: by its name
   */
  public List<Beginning> beginnings(TopicInfo topic, List<String> patterns) {
    Offsets.Topic entry = topics.get(topic.name());
    StartAt at =
        entry == null
            ? starts.computeIfAbsent(topic.id(), id -> isLater(id, patterns) ? EARLIEST : start)
            : EARLIEST;
    List<Beginning> missing = new ArrayList<>();
    for (Shard shard : topic.all()) {
      if (entry == null || entry.id() != topic.id() || !entry.next().containsKey(shard.shard())) {
        missing.add(new Beginning(shard, at));
      }
    }
    return missing;
  }

  /** Whether the consumer reads a topic with a lower number by one of these patterns. */
  private boolean isLater(int id, List<String> patterns) {
    return topics.values().stream()
        .anyMatch(
            known ->
                known.id() < id
                    && patterns.stream().anyMatch(p -> TopicPattern.matches(p, known.name())));
  }

  /**
   * Adds shards of a topic. Offsets of an earlier topic with the same name are forgotten.
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

  /** Sets the next offset of a shard: all below is done. It never goes back. */
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

  /** The offsets to store. */
  Offsets offsets() {
    List<Offsets.Topic> all = topics.values().stream().map(Offsets.Topic::copy).toList();
    return new Offsets(cluster, group, member, all);
  }
}
