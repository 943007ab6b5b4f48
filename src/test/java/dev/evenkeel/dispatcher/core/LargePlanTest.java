package dev.evenkeel.dispatcher.core;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A plan for many shards is made elsewhere, and things happen meanwhile. */
class LargePlanTest {
  private static final int SHARDS = GroupPlan.PLANNED_HERE_MAX + 100;

  private final Bench bench = Bench.withShards(SHARDS);

  @BeforeEach
  void hold() {
    bench.holdPlans = true;
  }

  /** How many shards are granted; {@code owner} null: to anybody. */
  private int granted(String owner) {
    TreeSet<Integer> granted = new TreeSet<>();
    times(
        SHARDS,
        i -> {
          Lease lease = bench.lease(i);
          if (lease != null && lease.owned() && (owner == null || lease.owner().equals(owner))) {
            granted.add(i);
          }
        });
    return granted.size();
  }

  @Test
  void nothingMovesBeforeThePlanIsThere() {
    bench.send(bench.beat("a"));
    assertThat(bench.heldPlans).hasSize(1);
    bench.pass(2_000, bench.beat("a"));
    assertThat(granted(null)).isZero();
    bench.answerNextPlan(false);
    assertThat(granted("a")).isEqualTo(SHARDS);
    assertThat(bench.heldPlans).isEmpty();
  }

  @Test
  void whoJoinsMeanwhileIsInTheNextPlan() {
    bench.send(bench.beat("a"));
    bench.send(bench.beat("b"));
    assertThat(bench.heldPlans).as("one at a time").hasSize(1);
    bench.answerNextPlan(false);
    bench.pass(2_000, bench.beat("a"), bench.beat("b"));
    assertThat(bench.heldPlans).hasSize(1);
    bench.answerNextPlan(false);
    bench.holdPlans = false;
    // Members that are asked for their shards keep them for the lock time in this test.
    bench.pass(120_000, bench.beat("a"), bench.beat("b"));
    assertThat(granted("b")).isEqualTo(SHARDS / 2);
  }

  @Test
  void aMemberThatIsGoneGetsNothing() {
    bench.send(bench.beat("a"));
    bench.send(Bench.leaving(bench.beat("a")));
    bench.answerNextPlan(false);
    bench.pass(2_000);
    assertThat(granted(null)).isZero();
    bench.holdPlans = false;
    while (!bench.heldPlans.isEmpty()) {
      bench.answerNextPlan(false);
    }
    bench.pass(3_000, bench.beat("b"));
    assertThat(granted("b")).isEqualTo(SHARDS);
  }

  /**
   * The plan takes a shard away from a member, but its topic is deleted before the plan is there.
   */
  @Test
  void whatIsTakenMayBeGoneWhenThePlanIsThere() {
    bench.holdPlans = false;
    // Those that the member keeps are not planned for.
    bench.log.topic(2, "u", SHARDS);
    List<String> both = List.of("t", "u");
    Heartbeat a =
        Bench.in(bench.beat("a"), "sharded", both, null)
            .withWishes(new Heartbeat.Wishes(null, 10_000L, 0, null, null, null, null));
    Heartbeat b = Bench.in(bench.beat("b"), "sharded", both, null);
    bench.run(bench.core.topicsChanged(bench.now));
    bench.send(a);
    bench.pass(2_000, a, b);
    Lease lease =
        IntStream.range(0, SHARDS)
            .mapToObj(i -> bench.log.lease("g", new Shard(2, i)))
            .filter(each -> each.owner().equals("a") && each.drain() == null)
            .findFirst()
            .orElseThrow();
    bench.holdPlans = true;
    ShardProgress stall =
        new ShardProgress(lease.shard(), lease.epoch(), 1L, null, null, 10_000L, null, null, null);
    bench.pass(2_000, a.withMarks(List.of(stall)), b);
    assertThat(bench.heldPlans.getFirst().draft().begun().taken()).containsKey(lease.shard());
    bench.log.topics.remove(1);
    bench.run(bench.core.topicsChanged(bench.now));
    bench.answerNextPlan(false);
    bench.holdPlans = false;
    bench.pass(3_000, a, b);
    while (!bench.heldPlans.isEmpty()) {
      bench.answerNextPlan(false);
    }
    assertThat(granted("a") + granted("b")).isEqualTo(SHARDS);
  }

  @Test
  void aPlanThatNobodyCouldMakeIsMadeLater() {
    bench.send(bench.beat("a"));
    bench.answerNextPlan(true);
    assertThat(bench.heldPlans).isEmpty();
    bench.pass(3_000, bench.beat("a"));
    assertThat(bench.heldPlans).hasSize(1);
    bench.answerNextPlan(false);
    assertThat(granted("a")).isEqualTo(SHARDS);
  }

  /** A new dispatcher finds the shards with their owners, and has no plan yet. */
  @Test
  void aNewDispatcherTakesNothingAwayBeforeItsPlan() {
    bench.holdPlans = false;
    bench.send(bench.beat("a"));
    bench.send(bench.beat("a"));
    assertThat(granted("a")).isEqualTo(SHARDS);
    bench.holdPlans = true;
    bench.clear();
    bench.activate(List.of());
    bench.pass(3_000, bench.beat("a"));
    assertThat(bench.writes()).isEmpty();
    bench.holdPlans = false;
    bench.answerNextPlan(false);
    bench.pass(3_000, bench.beat("a"));
    assertThat(bench.writes()).isEmpty();
    assertThat(granted("a")).isEqualTo(SHARDS);
  }
}
