package dev.evenkeel.assign;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class AverageAssignorTest {
  private final Assignor assignor = new AverageAssignor();

  @Test
  void firstMembersGetOneMoreInContiguousRanges() {
    List<Shard> shards = new ArrayList<>();
    times(7, i -> shards.add(new Shard(1, i)));
    List<Snapshot.Member> members =
        List.of(
            new Snapshot.Member("c", Set.of(1)),
            new Snapshot.Member("a", Set.of(1)),
            new Snapshot.Member("b", Set.of(1)));
    Map<Shard, String> target = assignor.assign(free(members, shards));
    StringBuilder owners = new StringBuilder();
    shards.forEach(shard -> owners.append(target.get(shard)));
    assertThat(owners).hasToString("aaabbcc");
  }

  @Property(tries = 500)
  void everyWantedShardHasOneSubscribingOwnerAndTopicsAreEven(
      @ForAll long seed,
      @ForAll @IntRange(min = 0, max = 12) int memberCount,
      @ForAll @IntRange(min = 0, max = 4) int topicCount) {
    Random random = new Random(seed);
    List<Shard> shards = new ArrayList<>();
    for (int topic = 1; topic <= topicCount; topic++) {
      int count = random.nextInt(20);
      for (int i = 0; i < count; i++) {
        shards.add(new Shard(topic, i));
      }
    }
    List<Snapshot.Member> members = new ArrayList<>();
    for (int i = 0; i < memberCount; i++) {
      Set<Integer> topics = new TreeSet<>();
      for (int topic = 1; topic <= topicCount; topic++) {
        if (random.nextBoolean()) {
          topics.add(topic);
        }
      }
      members.add(new Snapshot.Member("m" + i, topics));
    }
    Map<Shard, String> target = assignor.assign(free(members, shards));

    for (int topic = 1; topic <= topicCount; topic++) {
      int id = topic;
      Map<String, Integer> counts = new HashMap<>();
      members.stream()
          .filter(member -> member.topicIds().contains(id))
          .forEach(member -> counts.put(member.name(), 0));
      for (Shard shard : shards) {
        if (shard.topicId() == id) {
          if (counts.isEmpty()) {
            assertThat(target).doesNotContainKey(shard);
          } else {
            assertThat(counts).containsKey(target.get(shard));
            counts.merge(target.get(shard), 1, Integer::sum);
          }
        }
      }
      if (!counts.isEmpty()) {
        assertThat(Collections.max(counts.values()) - Collections.min(counts.values()))
            .isLessThanOrEqualTo(1);
      }
    }

    Collections.shuffle(shards, random);
    Collections.shuffle(members, random);
    assertThat(assignor.assign(free(members, shards))).isEqualTo(target);
  }

  private static Snapshot free(List<Snapshot.Member> members, List<Shard> shards) {
    return new Snapshot(
        members, shards.stream().map(shard -> new Snapshot.Held(shard, null, null, null)).toList());
  }
}
