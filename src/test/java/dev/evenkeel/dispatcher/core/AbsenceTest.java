package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.assign.AverageAssignor;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.protocol.GroupPolicy;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A group is absent while a dispatcher could have heard it, and not while the clock moves. */
class AbsenceTest {
  private static final long DAY = 24L * 3_600_000;
  private static final long HOUR = 3_600_000;
  private static final long MINUTE = 60_000;

  private final Bench bench = Bench.withShards(2);

  @BeforeEach
  void groupThatStopped() {
    Heartbeat member = bench.beat("a");
    bench.send(member, Bench.leaving(member)).pass(10_000);
  }

  @Test
  void timeWithoutADispatcherIsNoAbsence() {
    bench.now += 8 * DAY;
    bench.activate(List.of());
    bench.pass(MINUTE);
    assertThat(bench.log.groups).containsKey("g");
    assertThat(bench.log.leases).containsKey("g");
  }

  @Test
  void aJumpOfTheClockIsNoAbsence() {
    bench.now += 8 * DAY;
    bench.pass(MINUTE);
    assertThat(bench.log.groups).containsKey("g");
    bench.now -= 9 * DAY;
    bench.pass(10 * MINUTE);
    bench.now += 30 * DAY;
    bench.pass(10 * MINUTE);
    assertThat(bench.log.groups).containsKey("g");
    assertThat(bench.log.activeMillis).isLessThan(HOUR);
  }

  @Test
  void dispatchersAddUpWhatEachHasSeen() {
    bench.settings = forgetsAfter(HOUR);
    for (int i = 0; i < 4; i++) {
      bench.now += DAY;
      bench.activate(List.of());
      bench.pass(10 * MINUTE);
      assertThat(bench.log.groups).as("after %s dispatchers", i + 1).containsKey("g");
    }
    bench.activate(List.of());
    bench.pass(30 * MINUTE);
    assertThat(bench.log.groups).isEmpty();
    assertThat(bench.log.leases).isEmpty();
  }

  private static DispatcherSettings forgetsAfter(long millis) {
    return TestSettings.withGroupForget(TestSettings.atOnce(), millis);
  }

  @Test
  void aMemberThatComesEndsTheAbsence() {
    bench.settings = forgetsAfter(HOUR);
    bench.activate(List.of());
    bench.pass(50 * MINUTE);
    Heartbeat member = bench.beat("a", "a2", 200);
    bench.send(member);
    bench.pass(30 * MINUTE, member);
    bench.send(Bench.leaving(member));
    bench.pass(50 * MINUTE);
    assertThat(bench.log.groups).containsKey("g");
    bench.pass(20 * MINUTE);
    assertThat(bench.log.groups).isEmpty();
  }

  /** Else the next dispatcher would count from when the group had stopped before. */
  @Test
  void aGroupThatComesBackIsRecordedBeforeItsMembersOwnShards() {
    bench.settings = forgetsAfter(HOUR);
    bench.activate(List.of());
    bench.pass(50 * MINUTE);
    bench.send(bench.beat("a", "a2", 200));
    assertThat(bench.log.leases.get("g").values())
        .allSatisfy(lease -> assertThat(lease.owner()).isEqualTo("a"));
    bench.activate(List.of());
    bench.pass(15 * MINUTE);
    assertThat(bench.log.groups).containsKey("g");
    bench.pass(50 * MINUTE);
    assertThat(bench.log.groups).isEmpty();
  }

  @Test
  void aMemberThatComesAndGoesBeforeTheTimeIsKnownEndsTheAbsence() {
    bench.settings = forgetsAfter(HOUR);
    bench.activate(List.of());
    bench.pass(59 * MINUTE);
    bench.loseTime = true;
    bench.activate(List.of());
    Heartbeat member = bench.beat("a", "a2", 200);
    bench.send(member, Bench.leaving(member));
    bench.loseTime = false;
    bench.pass(30 * MINUTE);
    assertThat(bench.log.groups).containsKey("g");
    bench.pass(40 * MINUTE);
    assertThat(bench.log.groups).isEmpty();
  }

  /** Whatever clocks do: a group with a member now and then is never forgotten. */
  @Property(tries = 50)
  void clocksAloneForgetNothing(@ForAll long seed) {
    Random random = new Random(seed);
    Bench world = Bench.withShards(1);
    long lived = 0;
    Heartbeat first = world.beat("a");
    world.send(first);
    world.send(Bench.leaving(first));
    while (lived < 6 * HOUR) {
      world.now += (random.nextInt(41) - 20) * DAY;
      if (random.nextInt(3) == 0) {
        world.activate(List.of());
      }
      long step = random.nextInt((int) HOUR);
      world.pass(step);
      lived += step;
    }
    assertThat(world.log.groups).containsKey("g");
    assertThat(world.log.activeMillis).isBetween(0L, lived);
  }

  @Test
  void aForgottenSingletonLeadsAtAHigherTermAndItsShardsAtHigherEpochs() {
    bench.settings = forgetsAfter(HOUR);
    bench.assignors.put("average", bench.counting(new AverageAssignor()));
    bench.activate(List.of());
    bench.send(singleton("x", "x1"));
    bench.pass(MINUTE, singleton("x", "x1"));
    bench.send(Bench.leaving(singleton("x", "x1")));
    long term = bench.log.groupLeases.get("s").term();
    bench.pass(3 * HOUR);
    assertThat(bench.log.groupLeases).isEmpty();
    bench.send(singleton("x", "x2"));
    bench.pass(MINUTE, singleton("x", "x2"));
    assertThat(bench.log.groupLeases.get("s").term()).isGreaterThan(term);
    assertThat(bench.log.leases.get("s").values())
        .isNotEmpty()
        .allSatisfy(
            lease -> {
              assertThat(lease.owner()).isEqualTo("x");
              assertThat(lease.epoch()).isGreaterThan(1);
            });
  }

  private static Heartbeat singleton(String member, String instance) {
    return Heartbeats.with(
        Heartbeats.beat("s", member, instance, 100),
        "policy",
        GroupPolicy.of(GroupPolicy.MODE_SINGLETON));
  }
}
