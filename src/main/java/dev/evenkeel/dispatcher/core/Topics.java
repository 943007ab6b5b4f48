package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

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
    if (!byId.keySet().equals(other.byId.keySet())) {
      return false;
    }
    for (TopicInfo topic : byId.values()) {
      if (topic.shards() != other.byId.get(topic.id()).shards()) {
        return false;
      }
    }
    return true;
  }

  /** Numbers of those of {@code names} that are active. */
  Set<Integer> ids(Collection<String> names) {
    Set<Integer> ids = new HashSet<>();
    for (String name : names) {
      TopicInfo topic = byName.get(name);
      if (topic != null) {
        ids.add(topic.id());
      }
    }
    return ids;
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

  /** The first of {@code names} that is not active, or null. */
  String unknown(Collection<String> names) {
    for (String name : names) {
      if (!byName.containsKey(name)) {
        return name;
      }
    }
    return null;
  }
}
