package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/** The active topics by name and by number. Immutable. */
public final class Topics {
  static final Topics NONE = new Topics(List.of());

  private final Map<String, TopicInfo> byName = new HashMap<>();
  private final Map<Integer, TopicInfo> byId = new HashMap<>();

  Topics(List<TopicInfo> topics) {
    for (TopicInfo topic : topics) {
      byName.put(topic.name(), topic);
      byId.put(topic.id(), topic);
    }
  }

  public Collection<TopicInfo> all() {
    return byName.values();
  }

  public TopicInfo byName(String name) {
    return byName.get(name);
  }

  /** The name of a topic, or null if it is not active. */
  public String name(int id) {
    TopicInfo topic = byId.get(id);
    return topic == null ? null : topic.name();
  }

  /** For people. */
  String name(Shard shard) {
    return name(shard.topicId()) + "/" + shard.shard();
  }

  boolean has(Shard shard) {
    TopicInfo topic = byId.get(shard.topicId());
    return topic != null && shard.shard() < topic.shards();
  }

  boolean sameShardsAs(Topics other) {
    return byId.keySet().equals(other.byId.keySet())
        && byId.values().stream()
            .allMatch(topic -> topic.shards() == other.byId.get(topic.id()).shards());
  }

  /** Numbers of those of {@code names} that are active. */
  Set<Integer> ids(Collection<String> names) {
    return names.stream()
        .map(byName::get)
        .filter(Objects::nonNull)
        .map(TopicInfo::id)
        .collect(Collectors.toCollection(HashSet::new));
  }

  /** All shards of the topics with these numbers. */
  List<Shard> shards(Collection<Integer> ids) {
    List<Shard> shards = new ArrayList<>();
    for (int id : ids) {
      TopicInfo topic = byId.get(id);
      for (int i = 0; topic != null && i < topic.shards(); i++) {
        shards.add(new Shard(id, i));
      }
    }
    return shards;
  }

  /** How many shards those of {@code names} have that are active. */
  int shardCount(Collection<String> names) {
    return names.stream()
        .map(byName::get)
        .filter(Objects::nonNull)
        .mapToInt(TopicInfo::shards)
        .sum();
  }

  /** The first of {@code names} that is not active, or null. */
  String unknown(Collection<String> names) {
    return names.stream().filter(name -> !byName.containsKey(name)).findFirst().orElse(null);
  }
}
