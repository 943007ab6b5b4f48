package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.bus.StepPlace;
import dev.evenkeel.bus.StepReport;
import dev.evenkeel.dispatcher.ModelLog;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A coordinator is a group whose members are tracks. */
class CoordinatorGroupTest {
  private static final int RANGE = 10;

  private final Bench bench = new Bench(new ModelLog().topic(1, "t", 2));

  @BeforeEach
  void begin() {
    bench.level = FeatureLevel.NEWEST;
    bench.activate(List.of());
  }

  private Heartbeat track(String name, StepReport report) {
    return track(name, name + "1", RANGE, report);
  }

  private Heartbeat track(String name, String instance, int range, StepReport report) {
    Assignment last = bench.told.get(instance);
    Heartbeat.Seen seen = last == null ? null : new Heartbeat.Seen(last.term(), last.revision());
    Heartbeat beat =
        Heartbeats.with(
            bench.beat(name, instance, 100),
            "policy",
            GroupPolicy.steps(range),
            "topics",
            List.of());
    return beat.ofTrack(report, seen, 0, null, false);
  }

  /** What it reports after it was told of its place. */
  private StepReport at(String name, long steps) {
    StepPlace place = place(name);
    return new StepReport(0, steps, false, false, place.roster(), place.tracks());
  }

  private StepPlace place(String name) {
    return bench.told.get(name + "1").place();
  }

  private void join(String name) {
    bench.send(track(name, StepReport.FIRST));
  }

  @Test
  void theSlowestTrackSaysHowFarTheOthersMayGo() {
    join("a");
    assertThat(place("a").limit()).isEqualTo(RANGE);
    bench.send(track("a", at("a", 7)));
    assertThat(place("a").limit()).isEqualTo(7 + RANGE);
    join("b");
    assertThat(place("b").from()).as("a has not heard of it yet").isEqualTo(-1);
    bench.send(track("a", at("a", 8)));
    assertThat(place("b").from()).isEqualTo(8);
    bench.send(track("a", at("a", 18)));
    assertThat(place("a").limit()).isEqualTo(8 + RANGE);
    bench.send(track("b", at("b", 12)));
    bench.send(track("a", at("a", 18)));
    assertThat(place("a").limit()).isEqualTo(12 + RANGE);
  }

  @Test
  void whoDiedIsWaitedForUntilItHasStoppedItself() {
    bench.send(track("a", StepReport.FIRST), track("b", StepReport.FIRST));
    bench.send(track("a", at("a", 0)), track("b", at("b", 0)));
    bench.run(bench.core.expire(Bench.GROUP, "b", bench.now));
    bench.send(track("a", at("a", RANGE)));
    assertThat(place("a").limit()).as("b may live and only be cut off").isEqualTo(RANGE);
    bench.pass(6_000, track("a", at("a", RANGE)));
    bench.send(track("a", at("a", RANGE)));
    assertThat(place("a").limit()).isEqualTo(2 * RANGE);
    assertThat(bench.refusal(track("b", at("b", 3)))).isEqualTo(Refusal.FENCED);
  }

  @Test
  void whoLeavesIsNotWaitedFor() {
    bench.send(track("a", StepReport.FIRST), track("b", StepReport.FIRST));
    bench.send(track("a", at("a", 0)), track("b", at("b", 0)));
    bench.send(Bench.leaving(track("b", at("b", 0))));
    bench.send(track("a", at("a", RANGE)));
    assertThat(place("a").limit()).isEqualTo(2 * RANGE);
  }

  @Test
  void aNewDispatcherGivesNothingBeforeItKnowsAllTracks() {
    bench.send(track("a", StepReport.FIRST), track("b", StepReport.FIRST));
    bench.send(track("a", at("a", 0)), track("b", at("b", 0)));
    StepReport a = at("a", 5);
    StepReport b = at("b", 3);
    bench.activate(List.of());
    bench.send(track("a", a));
    bench.send(track("a", a));
    assertThat(place("a").limit()).as("b is missing").isEqualTo(-1);
    bench.send(track("b", b));
    assertThat(place("b").limit()).as("b may have reported before").isEqualTo(-1);
    bench.send(track("b", b));
    assertThat(place("b").limit()).isEqualTo(3 + RANGE);
  }

  @Test
  void aNewDispatcherWaitsForTracksThatDied() {
    bench.send(track("a", StepReport.FIRST), track("b", StepReport.FIRST));
    bench.send(track("a", at("a", 0)), track("b", at("b", 0)));
    StepReport a = at("a", 5);
    bench.activate(List.of());
    bench.send(track("a", a));
    bench.pass(Limits.TRACK_TIMEOUT_MILLIS_MAX - 1_000, track("a", a));
    assertThat(place("a").limit()).isEqualTo(-1);
    bench.pass(2_000, track("a", a));
    assertThat(place("a").limit()).isEqualTo(5 + RANGE);
  }

  private static Bench anew() {
    Bench anew = new Bench(new ModelLog().topic(1, "t", 2));
    anew.level = FeatureLevel.NEWEST;
    anew.activate(List.of());
    return anew;
  }

  /** The data of the cluster was deleted, and the program ran on. */
  @Test
  void aTrackOfAClusterThatBeganAnewIsLost() {
    bench.activate(List.of());
    join("a");
    StepReport placed = at("a", 3);
    StepReport aside = new StepReport(0, 3, false, true, placed.roster(), placed.tracks());
    StepReport back = new StepReport(1, -1, false, false, placed.roster(), placed.tracks());
    for (StepReport each : List.of(placed, aside, back)) {
      assertThat(anew().refusal(track("a", each))).as("%s", each).isEqualTo(Refusal.FENCED);
    }
  }

  @Test
  void aTrackOfTheSameTermOfAClusterThatBeganAnewIsLostOrHasAPlace() {
    join("a");
    bench.send(track("a", at("a", 3)));
    long revision = bench.told.get("a1").revision();
    Heartbeat back = track("a", new StepReport(1, -1, false, false, place("a").roster() + 9, 1));
    Bench anew = anew();
    assertThat(anew.refusal(back)).isEqualTo(Refusal.FENCED);
    for (int i = 0; i < revision; i++) {
      anew.send(track("b" + i, StepReport.FIRST));
    }
    Assignment given = (Assignment) anew.send(back);
    assertThat(given.laterThan(1, revision)).isTrue();
    assertThat(given.place().roster()).isGreaterThan(back.steps().roster());
  }

  @Test
  void whoMayNotBeTheDispatcherAnyMoreGivesNothing() {
    join("a");
    bench.core.aloneIf(() -> false);
    assertThat(bench.refusal(track("a", at("a", 5)))).isEqualTo(Refusal.UNAVAILABLE);
  }

  @Test
  void aGroupThatReadsTopicsIsNoCoordinator() {
    bench.send(bench.beat("c"));
    bench.send(Bench.leaving(bench.beat("c")));
    assertThat(bench.refusal(track("a", StepReport.FIRST))).isEqualTo(Refusal.GROUP_MISMATCH);
  }

  @Test
  void aGroupThatWouldReadTopicsIsNoCoordinator() {
    Heartbeat reader = Heartbeats.with(bench.beat("c"), "topics", List.of("none.*"));
    bench.send(reader);
    bench.send(Bench.leaving(reader));
    assertThat(bench.core.find(Bench.GROUP).info().subscriptions()).isEmpty();
    assertThat(bench.refusal(track("a", StepReport.FIRST))).isEqualTo(Refusal.GROUP_MISMATCH);
  }

  @Test
  void aRangeHoldsUntilNobodyWasPromisedTheFormerOne() {
    join("a");
    bench.send(track("a", at("a", 5)));
    assertThat(bench.refusal(track("b", "b1", 3, StepReport.FIRST)))
        .isEqualTo(Refusal.GROUP_MISMATCH);
    bench.run(bench.core.expire(Bench.GROUP, "a", bench.now));
    Heartbeat other = track("b", "b1", 3, StepReport.FIRST);
    bench.send(other);
    assertThat(place("b").from()).as("a may go on").isEqualTo(-1);
    bench.pass(6_000, other);
    assertThat(place("b").limit() - place("b").from()).isEqualTo(3);
  }

  @Test
  void aClusterOfAFormerVersionTakesNoTracks() {
    bench.level = FeatureLevel.COORDINATORS - 1;
    bench.activate(List.of());
    assertThat(bench.refusal(track("a", StepReport.FIRST))).isEqualTo(Refusal.INVALID);
  }

  @Test
  void aTrackLearnsThatTheLevelOfANewClusterHasRisen() {
    bench.level = FeatureLevel.FIRST;
    bench.activate(List.of());
    assertThat(bench.refusal(track("a", StepReport.FIRST))).isEqualTo(Refusal.UNAVAILABLE);
    bench.level = FeatureLevel.NEWEST;
    join("a");
    assertThat(place("a").limit()).isPositive();
  }

  @Test
  void oddReportsAreRefused() {
    for (StepReport odd :
        List.of(
            new StepReport(0, -2, false, false, 0, 0),
            new StepReport(-1, 0, false, false, 0, 0),
            new StepReport(0, 0, false, false, -1, 0),
            new StepReport(0, Long.MAX_VALUE, false, false, 0, 0),
            new StepReport(0, 0, false, false, Long.MAX_VALUE, 0))) {
      assertThat(bench.refusal(track("a", odd))).as("%s", odd).isEqualTo(Refusal.INVALID);
    }
    Heartbeat none = track("a", null);
    assertThat(bench.refusal(none)).isEqualTo(Refusal.INVALID);
    Heartbeat topics = Heartbeats.with(track("a", StepReport.FIRST), "topics", List.of("t"));
    assertThat(bench.refusal(topics)).isEqualTo(Refusal.INVALID);
    assertThat(Set.of(bench.core.find(Bench.GROUP) == null)).containsExactly(true);
  }
}
