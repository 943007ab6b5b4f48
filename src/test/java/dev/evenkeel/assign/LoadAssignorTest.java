package dev.evenkeel.assign;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class LoadAssignorTest {
  private final LoadAssignor assignor = new LoadAssignor();

  private static Snapshot snapshot(
      List<String> members, Map<Integer, String> owners, double... busy) {
    List<Snapshot.Held> helds = new ArrayList<>();
    for (int i = 0; i < busy.length; i++) {
      Snapshot.Work work = busy[i] < 0 ? null : new Snapshot.Work(busy[i], 100 * busy[i]);
      helds.add(new Snapshot.Held(new Shard(1, i), owners.get(i), null, 0L, work));
    }
    return new Snapshot(
        members.stream().map(name -> new Snapshot.Member(name, Set.of(1))).toList(), helds);
  }

  private String owners(Snapshot snapshot) {
    Map<Shard, String> targets = assignor.assign(snapshot);
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < snapshot.shards().size(); i++) {
      out.append(targets.get(new Shard(1, i)));
    }
    return out.toString();
  }

  @Test
  void shardsOfUnknownWorkAreSpreadByNumber() {
    assertThat(owners(snapshot(List.of("a", "b", "c"), Map.of(), -1, -1, -1, -1, -1, -1)))
        .isEqualTo("abcabc");
    assertThat(owners(snapshot(List.of("a", "b"), Map.of(), 0, 0, 0, 0))).isEqualTo("abab");
  }

  @Test
  void oneThatMakesMostOfTheWorkIsLeftAlone() {
    Map<Integer, String> owners = Map.of(0, "a", 1, "a", 2, "b", 3, "b");
    assertThat(owners(snapshot(List.of("a", "b"), owners, 3, 1, 1, 1))).isEqualTo("abbb");
  }

  @Test
  void aSmallDifferenceMovesNothing() {
    Map<Integer, String> owners = Map.of(0, "a", 1, "a", 2, "b", 3, "b");
    assertThat(owners(snapshot(List.of("a", "b"), owners, 1.1, 1.1, 1, 1))).isEqualTo("aabb");
    assertThat(owners(snapshot(List.of("a", "b"), owners, 1.9, 0.1, 1, 1))).isEqualTo("aabb");
  }

  @Test
  void whoJoinsGetsItsPartOfTheWork() {
    Map<Integer, String> owners = Map.of(0, "a", 1, "a", 2, "a", 3, "a");
    assertThat(owners(snapshot(List.of("a", "b"), owners, 4, 1, 1, 2))).isEqualTo("baaa");
  }

  /** Completeness, the bound, stability, and that the order of the lists makes no difference. */
  @Property(tries = 500)
  void promises(@ForAll long seed) {
    Random random = new Random(seed);
    int topics = 1 + random.nextInt(3);
    boolean mixed = topics > 1 && random.nextBoolean();
    List<Snapshot.Member> members = new ArrayList<>();
    int count = 1 + random.nextInt(8);
    for (int i = 0; i < count; i++) {
      Set<Integer> ids = new HashSet<>();
      for (int topic = 1; topic <= topics; topic++) {
        if (!mixed || i == 0 || random.nextBoolean()) {
          ids.add(topic);
        }
      }
      members.add(new Snapshot.Member("m" + i, ids.isEmpty() ? Set.of(1) : ids));
    }
    List<Snapshot.Held> helds = new ArrayList<>();
    for (int topic = 1; topic <= topics; topic++) {
      int shards = 1 + random.nextInt(20);
      for (int shard = 0; shard < shards; shard++) {
        Snapshot.Work work =
            random.nextInt(4) == 0
                ? null
                : new Snapshot.Work(
                    Math.pow(random.nextDouble(), 3),
                    1_000 * random.nextInt(1 + random.nextInt(9)));
        helds.add(
            new Snapshot.Held(
                new Shard(topic, shard), someone(random, count), someone(random, count), 0L, work));
      }
    }
    Snapshot snapshot = new Snapshot(members, helds);
    Map<Shard, String> targets = assignor.assign(snapshot);
    assertThat(Planner.plan(snapshot, assignor).problem()).isNull();
    assertThat(assignor.assign(GroupModel.shuffled(snapshot, random))).isEqualTo(targets);

    List<Snapshot.Held> under = new ArrayList<>();
    for (Snapshot.Held held : helds) {
      String target = targets.get(held.shard());
      boolean done = random.nextBoolean();
      under.add(
          new Snapshot.Held(
              held.shard(),
              done ? target : held.owner(),
              done ? null : target,
              held.lag(),
              held.work()));
    }
    assertThat(assignor.assign(new Snapshot(members, under)))
        .as("planned again")
        .isEqualTo(targets);
    if (!mixed) {
      assertBound(snapshot, targets);
    }
  }

  private static String someone(Random random, int count) {
    return random.nextInt(3) == 0 ? null : "m" + random.nextInt(count);
  }

  private static void assertBound(Snapshot snapshot, Map<Shard, String> targets) {
    Roster roster = Roster.of(snapshot);
    double[] loads = LoadAssignor.loads(roster);
    Map<String, Double> members = new HashMap<>();
    double sum = 0;
    double heaviest = 0;
    for (int s = 0; s < loads.length; s++) {
      members.merge(targets.get(roster.shards[s]), loads[s], Double::sum);
      sum += loads[s];
      heaviest = Math.max(heaviest, loads[s]);
    }
    double average = sum / roster.members.length;
    double most = Math.max(2 * heaviest, average * LoadAssignor.GAP_PERCENT / 100);
    members.forEach(
        (member, load) -> assertThat(load).as(member).isLessThanOrEqualTo(average + most + 1e-9));
  }
}
