package dev.evenkeel.assign;

import static dev.evenkeel.Loops.times;

import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/**
 * A group to which things happen: members join, leave and crash, topics come, go and change, plans
 * are carried out wholly or in part.
 */
final class GroupModel {
  private final Random random;
  private final boolean uniform;
  private final Map<String, Set<Integer>> members = new TreeMap<>();
  private final Map<Integer, Integer> shardsOfTopics = new TreeMap<>();
  private final Map<Shard, String> owners = new TreeMap<>();
  private final Map<Shard, String> heirs = new TreeMap<>();
  private int lastTopic;

  /**
   * @param uniform whether all members subscribe to all topics
   */
  GroupModel(Random random, boolean uniform, int membersMax, int topicsMax, int shardsMax) {
    this.random = random;
    this.uniform = uniform;
    for (int i = random.nextInt(topicsMax); i >= 0; i--) {
      shardsOfTopics.put(++lastTopic, 1 + random.nextInt(shardsMax));
    }
    for (int i = random.nextInt(membersMax); i >= 0; i--) {
      join();
    }
    List<String> names = new ArrayList<>(members.keySet());
    for (Shard shard : shards()) {
      if (random.nextInt(4) > 0) {
        owners.put(shard, pick(names));
      }
      if (random.nextInt(6) == 0) {
        heirs.put(shard, pick(names));
      }
    }
  }

  private <T> T pick(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }

  private List<Shard> shards() {
    List<Shard> shards = new ArrayList<>();
    shardsOfTopics.forEach(
        (topic, count) -> {
          times(count, i -> shards.add(new Shard(topic, i)));
        });
    return shards;
  }

  /** Any one thing happens. */
  void event() {
    switch (random.nextInt(8)) {
      case 0, 1, 2 -> join();
      case 3, 4 -> leave(false);
      case 5 -> leave(true);
      case 6 -> changeTopics();
      default -> changeSubscription();
    }
  }

  /** A member joins, leaves or crashes. */
  void joinOrLeave() {
    if (members.size() < 2 || random.nextBoolean()) {
      join();
    } else {
      leave(random.nextBoolean());
    }
  }

  private void join() {
    members.put("m" + random.nextInt(40), subscription());
  }

  private Set<Integer> subscription() {
    Set<Integer> topics = new HashSet<>(shardsOfTopics.keySet());
    if (!uniform) {
      topics.removeIf(topic -> random.nextInt(3) == 0);
    }
    return topics;
  }

  private void leave(boolean crash) {
    if (!members.isEmpty()) {
      String gone = pick(new ArrayList<>(members.keySet()));
      members.remove(gone);
      if (crash) {
        owners.values().removeIf(gone::equals);
      }
    }
  }

  private void changeTopics() {
    if (random.nextBoolean() && shardsOfTopics.size() > 1) {
      int topic = pick(new ArrayList<>(shardsOfTopics.keySet()));
      shardsOfTopics.remove(topic);
      owners.keySet().removeIf(shard -> shard.topicId() == topic);
      heirs.keySet().removeIf(shard -> shard.topicId() == topic);
    } else {
      shardsOfTopics.put(++lastTopic, 1 + random.nextInt(4));
    }
    if (uniform) {
      members.replaceAll((name, topics) -> new HashSet<>(shardsOfTopics.keySet()));
    }
  }

  private void changeSubscription() {
    if (!members.isEmpty()) {
      members.put(pick(new ArrayList<>(members.keySet())), subscription());
    }
  }

  /** The lists are in random order. */
  Snapshot snapshot() {
    List<Snapshot.Member> memberList = new ArrayList<>();
    Set<Integer> wanted = new HashSet<>();
    members.forEach(
        (name, topics) -> {
          memberList.add(new Snapshot.Member(name, topics));
          wanted.addAll(topics);
        });
    List<Snapshot.Held> helds = new ArrayList<>();
    for (Shard shard : shards()) {
      if (wanted.contains(shard.topicId())) {
        Long lag = random.nextInt(3) == 0 ? null : (long) random.nextInt(5);
        helds.add(new Snapshot.Held(shard, owners.get(shard), heirs.get(shard), lag));
      }
    }
    Collections.shuffle(memberList, random);
    Collections.shuffle(helds, random);
    return new Snapshot(memberList, helds);
  }

  static Snapshot shuffled(Snapshot snapshot, Random random) {
    List<Snapshot.Member> members = new ArrayList<>(snapshot.members());
    List<Snapshot.Held> helds = new ArrayList<>(snapshot.shards());
    Collections.shuffle(members, random);
    Collections.shuffle(helds, random);
    return new Snapshot(members, helds);
  }

  /** All owners are as planned. */
  void carryOut(Map<Shard, String> targets) {
    heirs.clear();
    owners.putAll(targets);
  }

  /** Hand-overs of the plan have begun, and some have ended; some shards are between owners. */
  void carryOutInPart(Map<Shard, String> targets) {
    heirs.clear();
    targets.forEach(
        (shard, target) -> {
          if (!target.equals(owners.get(shard))) {
            int progress = random.nextInt(3);
            if (progress == 0) {
              owners.put(shard, target);
            } else {
              heirs.put(shard, target);
              if (progress == 1) {
                owners.remove(shard);
              }
            }
          }
        });
  }

  boolean hasMembers() {
    return !members.isEmpty();
  }
}
