package dev.evenkeel.sim;

import dev.evenkeel.broker.state.FailureCounts;
import dev.evenkeel.client.internal.consume.Pending;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Says what is not yet as it must become once nothing goes wrong any more. */
final class Settling {
  private final World world;

  Settling(World world) {
    this.world = world;
  }

  /** What is not settled, or null. */
  String unsettled() {
    Map<String, SimConsumer> byInstance = new HashMap<>();
    Map<String, Set<String>> subscribers = new TreeMap<>();
    Set<String> names = new TreeSet<>();
    for (SimConsumer consumer : world.consumers) {
      if (consumer.closing) {
        return consumer + " still closes";
      }
      if (!names.add(consumer.member)) {
        return "two runs of " + consumer.member;
      }
      byInstance.put(consumer.instance, consumer);
      for (String topic : consumer.topics) {
        subscribers.computeIfAbsent(topic, any -> new TreeSet<>()).add(consumer.member);
      }
    }
    Map<String, List<Shard>> owned = new TreeMap<>();
    for (TopicInfo topic : world.brokers.activeTopics()) {
      if (!subscribers.containsKey(topic.name())) {
        continue;
      }
      if (topic.next() != null) {
        return topic + " still gets other shards";
      }
      for (Shard shard : topic.all()) {
        String problem =
            topic.isSealed(shard.shard()) ? sealed(shard) : shard(topic, shard, byInstance, owned);
        if (problem != null) {
          return problem;
        }
      }
    }
    for (SimConsumer consumer : world.consumers) {
      String problem = consumer(consumer, owned.getOrDefault(consumer.member, List.of()).size());
      if (problem != null) {
        return problem;
      }
    }
    for (DataGroup group : world.brokers.groups()) {
      if (!group.allApplied()) {
        return "a replica is behind";
      }
    }
    return uneven(owned);
  }

  private String sealed(Shard shard) {
    Lease lease = world.brokers.of(shard).lease(World.GROUP, shard);
    return lease != null && lease.finished() ? null : "not finished: " + shard + " " + lease;
  }

  private String shard(
      TopicInfo topic,
      Shard shard,
      Map<String, SimConsumer> byInstance,
      Map<String, List<Shard>> owned) {
    Lease lease = world.brokers.of(shard).lease(World.GROUP, shard);
    SimConsumer owner = lease == null || !lease.owned() ? null : byInstance.get(lease.instance());
    if (owner == null) {
      return "stranded: " + shard + " has no live owner: " + lease;
    }
    if (!owner.topics.contains(topic.name())) {
      return owner + " owns what it does not read: " + lease;
    }
    if (lease.drain() != null) {
      return "a drain is left: " + lease;
    }
    if (owner.told == null
        || owner.told.shards().stream()
            .noneMatch(
                each ->
                    each.shard().equals(shard)
                        && each.epoch() == lease.epoch()
                        && !each.draining())) {
      return owner + " does not know what it owns: " + lease;
    }
    if (world.delays != null && world.delays.missing(shard) > 0) {
      return shard + " still waits for delayed messages: " + world.delays.missing(shard);
    }
    long end = world.logs.end(shard);
    if (world.ledger.doneUpTo(shard) < end) {
      return shard + " is handled up to " + world.ledger.doneUpTo(shard) + " of " + end;
    }
    FailureCounts stand = world.brokers.of(shard).stand(World.GROUP, shard);
    if (stand.waiting() + stand.parked() + stand.held() > 0) {
      return shard + " has failures left: " + stand;
    }
    if (lease.committed() != end) {
      return shard + " is committed up to " + lease.committed() + " of " + end;
    }
    owned.computeIfAbsent(owner.member, any -> new ArrayList<>()).add(shard);
    return null;
  }

  private static String consumer(SimConsumer consumer, int owned) {
    if (consumer.core.owned() != owned) {
      return consumer + " holds " + consumer.core.owned() + " shards, and owns " + owned;
    }
    if (consumer.core.running() != 0
        || Pending.messages(consumer.core) != 0
        || Pending.bytes(consumer.core) != 0) {
      return consumer + " still has messages";
    }
    return null;
  }

  /** Shards of members that read the same differ by one at most. */
  private String uneven(Map<String, List<Shard>> owned) {
    if (world.singleton()) {
      return owned.size() <= 1 ? null : "more than one leader: " + owned;
    }
    if (world.setup.evenOverTopics()) {
      Map<Set<String>, List<SimConsumer>> alike = new HashMap<>();
      for (SimConsumer consumer : world.consumers) {
        alike
            .computeIfAbsent(new TreeSet<>(consumer.topics), any -> new ArrayList<>())
            .add(consumer);
      }
      for (List<SimConsumer> members : alike.values()) {
        String problem = uneven(members, owned, null);
        if (problem != null) {
          return problem;
        }
      }
      return null;
    }
    for (TopicInfo topic : world.brokers.activeTopics()) {
      var readers = world.consumers.stream().filter(c -> c.topics.contains(topic.name())).toList();
      String problem = uneven(readers, owned, topic.id());
      if (problem != null) {
        return problem;
      }
    }
    return null;
  }

  private static String uneven(
      List<SimConsumer> members, Map<String, List<Shard>> owned, Integer topicId) {
    long most = 0;
    long least = Long.MAX_VALUE;
    for (SimConsumer member : members) {
      long count =
          owned.getOrDefault(member.member, List.of()).stream()
              .filter(shard -> topicId == null || shard.topicId() == topicId)
              .count();
      most = Math.max(most, count);
      least = Math.min(least, count);
    }
    return members.isEmpty() || most - least <= 1 ? null : "uneven: " + owned;
  }
}
