package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.dispatcher.ModelLog;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * A member that asked for a longer timeout than usual may start handlers for as long, whoever is
 * the dispatcher by then and whatever became of the maps.
 */
class LongTimeoutTest {
  private static final long LONG_MILLIS = 30_000;

  private final Bench bench = Bench.withShards(2);
  private final Heartbeat b = bench.beat("b");

  private static Heartbeat patient(String clusterMember) {
    return Heartbeats.with(
        Heartbeats.beat(Bench.GROUP, "a", "a1", 100),
        "clusterMember",
        clusterMember,
        "memberTimeoutMillis",
        LONG_MILLIS);
  }

  private void clusterIs(String... members) {
    bench.clusterMembers = Set.of(members);
    bench.run(bench.core.clusterMembers(bench.clusterMembers, bench.now));
  }

  /** The others take all that it had, but not before so many milliseconds from now. */
  private void takenAfter(long millis) {
    bench.pass(millis - 250, b).owned("aa").pass(1_000, b).owned("bb");
  }

  @Test
  void aNewDispatcherKnowsItFromTheLeaseAlone() {
    bench.send(patient(null));
    assertThat(bench.lease(0).ownerTimeoutMillis()).isEqualTo(LONG_MILLIS);
    bench.activate(List.of());
    takenAfter(LONG_MILLIS);
  }

  @Test
  void aDispatcherOfAShorterTimeoutOfItsOwnWaitsForTheUsualOne() {
    bench.send(bench.beat("a"));
    bench.settings = TestSettings.withTimes(bench.settings, 5_000, 1_000, 500);
    bench.activate(List.of());
    takenAfter(5_000);
  }

  @Test
  void aHintOfAGrantTellsIt() {
    bench.send(patient(null));
    Bench other = new Bench(new ModelLog().topic(1, "t", 2));
    other.activate(List.of());
    other.send(b);
    other.run(
        other.core.leaseChanged(
            LeaseChange.fromJson(LeaseChange.of(bench.lease(0)).toJson()), other.now));
    UnheardMember ghost = other.core.find("g").members().unheard().iterator().next();
    assertThat(ghost.untilMillis()).isEqualTo(other.now + LONG_MILLIS);
  }

  @Test
  void aClusterThatHasNotHeardItForEightSecondsDoesNotEndIt() {
    bench.send(patient("c1"));
    bench.pass(8_000, b);
    clusterIs("c2");
    takenAfter(LONG_MILLIS - 8_000);
  }

  @Test
  void aConnectionThatBreaksAtOnceEndsIt() {
    bench.send(patient("c1"), b).pass(1_000, b);
    clusterIs("c2");
    assertThat(bench.owners()).isEqualTo("bb");
  }

  @Test
  void aNewDispatcherThatNeverHeardItWaitsThoughTheClusterGivesItUp() {
    bench.send(patient("c1"));
    UnheardMember ghost =
        new UnheardMember(
            Bench.GROUP,
            "a",
            "a1",
            100L,
            List.of("t"),
            "c1",
            "host",
            bench.now + LONG_MILLIS,
            LONG_MILLIS,
            Heartbeat.Wishes.NONE,
            null);
    bench.activate(List.of(ghost));
    bench.pass(5_000, b);
    clusterIs("c2");
    takenAfter(LONG_MILLIS - 5_000);
  }
}
