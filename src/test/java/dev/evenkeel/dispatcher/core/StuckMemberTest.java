package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A member that is heard but finishes nothing. */
class StuckMemberTest {
  private final Bench bench = Bench.withShards(4);

  private void twoEach(Heartbeat a, Heartbeat b) {
    bench.send(a, b).release(2, 3).owned("aabb");
  }

  private Heartbeat member(String name, Long stuckTimeoutMillis) {
    return bench
        .beat(name)
        .withWishes(new Heartbeat.Wishes(null, stuckTimeoutMillis, 0, null, null, null, null));
  }

  /** With a stall of so many milliseconds of each of {@code shards}, under epochs as they are. */
  private Heartbeat stalled(Heartbeat beat, long millis, int... shards) {
    List<ShardProgress> marks = new ArrayList<>();
    for (int shard : shards) {
      marks.add(mark(shard, bench.lease(shard).epoch(), millis));
    }
    return beat.withMarks(marks);
  }

  private static ShardProgress mark(int shard, long epoch, Long stalledMillis) {
    return new ShardProgress(
        new Shard(1, shard), epoch, 1L, null, null, stalledMillis, null, null, null);
  }

  private static Heartbeat consumed(Heartbeat beat, long consumed) {
    return Heartbeats.with(beat, "consumed", consumed);
  }

  private StuckMembers stuck() {
    return bench.core.find("g").stuck();
  }

  @Test
  void withoutATimeoutItIsOnlyShown() {
    Heartbeat a = member("a", null);
    twoEach(a, bench.beat("b"));
    bench.send(stalled(a, 29_999, 1));
    assertThat(stuck().shards("a1")).isEmpty();
    bench.send(stalled(a, 30_000, 1));
    assertThat(stuck().shards("a1")).containsExactly(new Shard(1, 1));
    assertThat(stuck().millis("a1", bench.now + 500)).isEqualTo(30_500);
    assertThat(stuck().count()).isEqualTo(1);
    assertThat(bench.owners()).isEqualTo("aabb");
    bench.send(a.withMarks(List.of(mark(1, 1, null))));
    assertThat(stuck().shards("a1")).isEmpty();
    assertThat(stuck().millis("a1", bench.now)).isZero();
  }

  @Test
  void pastItsTimeoutItLosesTheStuckShardsAtOnceAndKeepsTheOthers() {
    Heartbeat a = member("a", 10_000L);
    twoEach(a, bench.beat("b"));
    bench.after(stalled(a, 9_999, 1)).owned("aabb");
    bench.clear();
    bench.after(stalled(a, 10_000, 1)).owned("abbb");
    assertThat(bench.writes()).containsExactly("Grant 1");
    assertThat(bench.lease(1).epoch()).isEqualTo(2);
    assertThat(bench.told.get("a1").shards()).hasSize(1);
    MoveRecord move = bench.core.moves().recent("g", 1).get(0);
    assertThat(move.reason()).isEqualTo(Cause.STUCK.word());
    assertThat(move.reason()).isEqualTo("member stuck");
    assertThat(move.from()).isEqualTo("a");
  }

  @Test
  void aHandoverThatHangsIsNotWaitedFor() {
    Heartbeat a = member("a", 10_000L);
    bench.send(a, bench.beat("b"));
    assertThat(bench.lease(2).drain()).isNotNull();
    bench.after(stalled(a, 10_000, 2)).owned("aaba");
  }

  @Test
  void itGetsNothingWhileAHandlerOfALostShardStillRuns() {
    Heartbeat a = member("a", 2_000L);
    Heartbeat b = bench.beat("b");
    Heartbeat c = bench.beat("c");
    twoEach(a, b);
    Heartbeat hanging = a.withMarks(List.of(mark(0, 1, 2_000L), mark(1, 1, 2_000L)));
    bench.after(hanging).owned("bbbb").pass(20_000, hanging, b).owned("bbbb");
    assertThat(stuck().shards("a1")).hasSize(2);
    bench.send(c, Bench.leaving(b)).owned("cccc");
    // The handlers end: it is as good as the others again.
    Heartbeat again = consumed(a.withMarks(List.of()), 2);
    bench.send(again);
    assertThat(bench.lease(0).drain().to()).isEqualTo("a");
    bench.release(0, 1).owned("aacc").by(Cause.RECOVERED);
  }

  @Test
  void oneThatRanNothingRestsForAnotherTimeout() {
    Heartbeat a = member("a", 10_000L);
    Heartbeat b = bench.beat("b");
    twoEach(a, b);
    bench.after(stalled(a, 10_000, 0, 1)).owned("bbbb").pass(9_000, a, b);
    assertThat(bench.lease(0).drain()).isNull();
    bench.pass(2_000, a, b);
    assertThat(bench.lease(0).drain().to()).isEqualTo("a");
  }

  /** As many marks as go into a heartbeat, of shards that are nobody's business here. */
  private static Heartbeat partial(Heartbeat beat, ShardProgress... first) {
    List<ShardProgress> marks = new ArrayList<>(List.of(first));
    for (int i = marks.size(); i < Heartbeat.MARKS_MAX; i++) {
      marks.add(new ShardProgress(new Shard(9, i), 1, 1L, null, null, null, null, null, null));
    }
    return beat.withMarks(marks);
  }

  @Test
  void whatAPartOfTheMarksDoesNotNameIsNotJudgedByIt() {
    Heartbeat a = member("a", 10_000L);
    Heartbeat b = bench.beat("b");
    twoEach(a, b);
    bench.send(partial(a, mark(1, 1, 9_000L)));
    // It may have finished something since; nobody knows before it is named again.
    bench.pass(4_000, partial(a), b).owned("aabb");
    assertThat(stuck().shards("a1")).isEmpty();
    bench.after(partial(a, mark(1, 1, 10_000L))).owned("abbb");
    // That it is stuck holds until it is named again,
    bench.pass(4_000, partial(a), b);
    assertThat(stuck().shards("a1")).containsExactly(new Shard(1, 1));
    // or until its turn has passed.
    bench.pass(StuckMembers.UNNAMED_MILLIS_MAX, partial(a, mark(0, 1, null)), b);
    assertThat(stuck().shards("a1")).isEmpty();
    assertThat(stuck().count()).isZero();
  }

  @Test
  void aNewRunStartsAfresh() {
    Heartbeat a = member("a", 10_000L);
    Heartbeat b = bench.beat("b");
    twoEach(a, b);
    bench.send(stalled(a, 10_000, 0, 1));
    bench.send(bench.beat("a", "a2", 200));
    bench.release(0, 1).owned("aabb");
    assertThat(bench.lease(0).instance()).isEqualTo("a2");
  }

  @Test
  void ifAllAreStuckNothingMoves() {
    Heartbeat a = member("a", 10_000L);
    Heartbeat b = member("b", null);
    twoEach(a, b);
    bench.send(stalled(b, 40_000, 2));
    bench.send(stalled(a, 10_000, 0, 1));
    bench.pass(3_000, stalled(a, 11_000, 0, 1), stalled(b, 40_000, 2)).owned("aabb");
    assertThat(bench.lease(0).epoch()).isEqualTo(1);
    assertThat(bench.lease(0).drain()).isNull();
    // Until there is somebody who works.
    bench.send(bench.beat("c"));
    assertThat(bench.lease(0).owner()).isNotEqualTo("a");
    assertThat(bench.lease(1).owner()).isNotEqualTo("a");
  }

  @Test
  void withAllStuckShardsOfTheDeadAreServedAllTheSame() {
    Heartbeat a = member("a", 10_000L);
    Heartbeat b = bench.beat("b");
    twoEach(a, b);
    Heartbeat stuck = a.withMarks(List.of(mark(0, 1, 10_000L)));
    bench.after(stuck).owned("babb");
    bench.send(Bench.leaving(b));
    bench.pass(1_000, stuck).owned("aaaa");
  }

  @Test
  void aNewDispatcherKnowsItAfterAHeartbeatOfEach() {
    Heartbeat a = member("a", 2_000L);
    Heartbeat b = bench.beat("b");
    twoEach(a, b);
    Heartbeat hanging = a.withMarks(List.of(mark(0, 1, 2_000L), mark(1, 1, 2_000L)));
    bench.after(hanging).owned("bbbb");
    bench.activate(List.of());
    bench.send(b, hanging, hanging).pass(10_000, hanging, b).owned("bbbb");
    assertThat(bench.lease(0).drain()).isNull();
  }
}
