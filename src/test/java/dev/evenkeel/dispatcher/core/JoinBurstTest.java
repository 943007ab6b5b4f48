package dev.evenkeel.dispatcher.core;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.dispatcher.DispatcherOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Members that join in a burst are planned for together; who goes is not waited for. */
class JoinBurstTest {
  private final Bench bench = new Bench(new dev.evenkeel.dispatcher.ModelLog().topic(1, "t", 100));

  JoinBurstTest() {
    bench.settings = DispatcherOptions.DEFAULTS;
    bench.activate(List.of());
    bench.plans = 0;
  }

  /** Time passes as for a shell that keeps to {@link DispatcherCore#dueMillis}. */
  private void pass(long millis) {
    long end = bench.now + millis;
    while (bench.core.dueMillis() <= end) {
      bench.now = Math.max(bench.now, bench.core.dueMillis());
      bench.run(bench.core.wake(bench.now));
    }
    bench.now = end;
  }

  @Test
  void theFirstMemberWaitsNoLongerThanTheWindow() {
    bench.send(bench.beat("a"));
    assertThat(bench.core.dueMillis()).isEqualTo(bench.now + 100);
    pass(99);
    assertThat(bench.lease(0)).isNull();
    pass(1);
    assertThat(bench.owners()).isEqualTo("a".repeat(100));
    assertThat(bench.core.dueMillis()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void fiftyConsumersAreAFewPlans() {
    List<Heartbeat> all = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      Heartbeat beat = bench.beat("m" + i);
      all.add(beat);
      bench.send(beat);
      pass(30);
    }
    pass(100);
    // They take 1,500 ms to come: one plan after a second, and one at the end.
    assertThat(bench.plans).isEqualTo(2);
    bench.now -= bench.now % 250;
    bench.pass(5_000, all.toArray(new Heartbeat[0]));
    assertThat(bench.plans).isLessThanOrEqualTo(4);
  }

  @Test
  void aBurstPlannedAtOnceNeedsNoDrain() {
    for (int i = 0; i < 50; i++) {
      bench.send(bench.beat("m" + i));
      pass(10);
    }
    pass(100);
    assertThat(bench.plans).isEqualTo(1);
    assertThat(bench.writes()).noneMatch(write -> write.startsWith("SetDrain"));
    assertThat(Set.of(bench.owners())).hasSize(1);
    times(100, shard -> assertThat(bench.lease(shard).epoch()).isEqualTo(1));
  }

  @Test
  void hundredsThatComeWithPausesAreAFewPlansToo() {
    for (int i = 0; i < 400; i++) {
      bench.send(bench.beat("m" + i));
      pass(i % 50 == 49 ? 150 : 10);
    }
    // One for the first 50, which have come when there is a pause; the others take 4.55 s.
    assertThat(bench.plans).isEqualTo(1);
    pass(700);
    assertThat(bench.plans).isEqualTo(2);
  }

  @Test
  void aGroupOfThousandsWaitsTenTimesAsLongAtMost() {
    times(2_000, i -> bench.send(bench.beat("m" + i)));
    assertThat(bench.core.dueMillis()).isEqualTo(bench.now + 1_000);
    long end = bench.now + 10_000;
    for (int i = 0; bench.now < end; i++) {
      assertThat(bench.plans).isZero();
      pass(500);
      bench.send(bench.beat("n" + i));
    }
    assertThat(bench.plans).isEqualTo(1);
  }

  @Test
  void theFirstMemberOfManyShardsWaitsForOthers() {
    Bench large = new Bench(new dev.evenkeel.dispatcher.ModelLog().topic(1, "t", 2_000));
    large.settings = DispatcherOptions.DEFAULTS;
    large.activate(List.of());
    large.send(large.beat("a"));
    assertThat(large.core.dueMillis()).isEqualTo(large.now + 400);
  }

  @Test
  void whoLeavesIsReplacedAtOnceByThoseThatWait() {
    bench.send(bench.beat("a"));
    pass(100);
    bench.send(bench.beat("b"), Bench.leaving(bench.beat("a")));
    assertThat(bench.owners()).isEqualTo("b".repeat(100));
    assertThat(bench.core.dueMillis()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void aCrashIsActedUponAtOnceToo() {
    bench.send(Bench.in(bench.beat("a"), "sharded", List.of("t"), "c1"));
    pass(100);
    bench.send(bench.beat("b"));
    bench.run(bench.core.clusterMembers(Set.of("c2"), bench.now));
    assertThat(bench.owners()).isEqualTo("b".repeat(100));
  }

  @Test
  void nobodyIsGrantedWhatItSaysThatItReadsNoMore() {
    bench.log.topic(2, "u", 1);
    bench.run(bench.core.topicsChanged(bench.now));
    Heartbeat a = Bench.in(bench.beat("a"), "sharded", List.of("t", "u"), null);
    bench.send(a, bench.beat("z"));
    pass(100);
    int mine = bench.told.get("a1").shards().size();
    assertThat(mine).isGreaterThan(50);
    // The change is collected; meanwhile z lets go of a shard that the plan gives to nobody else.
    bench.send(Bench.in(a, "sharded", List.of("u"), null));
    bench.clear();
    pass(100);
    assertThat(bench.plans).isEqualTo(2);
    bench.actions.stream()
        .filter(DispatcherAction.Write.class::isInstance)
        .map(DispatcherAction.Write.class::cast)
        .map(DispatcherAction.Write::command)
        .filter(dev.evenkeel.protocol.DataCommand.Grant.class::isInstance)
        .map(dev.evenkeel.protocol.DataCommand.Grant.class::cast)
        .forEach(grant -> assertThat(grant.owner()).isEqualTo("z"));
  }

  @Test
  void hundredsThatLeaveOneByOneAreAFewPlans() {
    Bench large = new Bench(new dev.evenkeel.dispatcher.ModelLog().topic(1, "t", 500));
    large.settings = DispatcherOptions.DEFAULTS;
    large.activate(List.of());
    List<Heartbeat> all = new ArrayList<>();
    times(100, i -> all.add(large.beat("m" + i)));
    all.forEach(large::send);
    large.pass(1_000, all.toArray(new Heartbeat[0]));
    large.plans = 0;
    for (Heartbeat beat : all.subList(1, all.size())) {
      large.send(Bench.leaving(beat));
      large.now++;
    }
    large.pass(1_000, all.get(0));
    // One at once, one when the rest after it is over, and one that looks after everything.
    assertThat(large.plans).isBetween(2, 3);
    times(500, shard -> assertThat(large.lease(shard).owner()).isEqualTo("m0"));
  }
}
