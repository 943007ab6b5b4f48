package dev.evenkeel.broker.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Sealed shards with delayed messages take turns. */
class MoveTurnsTest {
  private static List<Shard> shards(int topic, int count) {
    return IntStream.range(0, count).mapToObj(number -> new Shard(topic, number)).toList();
  }

  /** However many shards fail, and however often, others get their turn. */
  @Test
  void shardsThatFailHoldUpNoOther() {
    MoveTurns turns = new MoveTurns();
    List<Shard> stuck = shards(1, 100);
    Set<Shard> healthy = new HashSet<>(shards(2, 20));
    long now = 0;
    // All of the stuck ones have failed at least once.
    for (Set<Shard> failed = new HashSet<>(); failed.size() < stuck.size(); now += 10) {
      for (Shard shard : turns.begin(stuck, now)) {
        failed.add(shard);
        turns.failed(shard, now);
      }
    }
    // Now their attempts never end, and the others move in a few turns.
    List<Shard> all = new ArrayList<>(stuck);
    all.addAll(healthy);
    now += 120_000;
    int failing = 0;
    Set<Shard> moved = new HashSet<>();
    for (int look = 0; look < 20; look++) {
      for (Shard shard : turns.begin(all, now)) {
        if (healthy.contains(shard)) {
          moved.add(shard);
          turns.moved(shard);
        } else {
          failing++;
        }
      }
    }
    assertThat(moved).isEqualTo(healthy);
    assertThat(failing).isEqualTo(MoveTurns.FAILING_AT_ONCE_MAX);
  }

  @Test
  void aShardThatFailsIsTriedLessAndLessOftenAndNeverGivenUp() {
    MoveTurns turns = new MoveTurns();
    List<Shard> one = shards(1, 1);
    long now = 5;
    List<Long> waits = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      assertThat(turns.begin(one, now)).isEqualTo(one);
      assertThat(turns.begin(one, now)).as("it is under way").isEmpty();
      long wait = turns.failed(one.get(0), now);
      waits.add(wait);
      assertThat(turns.begin(one, now + wait - 1)).isEmpty();
      now += wait;
    }
    assertThat(waits).isSorted().startsWith(1_000L, 2_000L).endsWith(60_000L, 60_000L);
    assertThat(turns.begin(one, now)).isEqualTo(one);
    turns.moved(one.get(0));
    assertThat(turns.begin(one, now)).as("a success begins anew").isEqualTo(one);
  }

  @Test
  void nothingIsRememberedOfShardsThatAreDone() {
    MoveTurns turns = new MoveTurns();
    List<Shard> one = shards(1, 1);
    assertThat(turns.begin(one, 0)).isEqualTo(one);
    turns.failed(one.get(0), 0);
    assertThat(turns.begin(List.of(), 1)).isEmpty();
    assertThat(turns.begin(one, 2)).as("it has no failures any more").isEqualTo(one);
  }
}
