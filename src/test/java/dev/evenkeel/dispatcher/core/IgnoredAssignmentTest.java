package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Shard;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** A member that is heard, and does nothing about what it is told that it owns. */
class IgnoredAssignmentTest {
  private final Bench bench = Bench.withShards(2);
  private final Heartbeat a = bench.beat("a");
  private final Heartbeat b = bench.beat("b");

  private StuckMembers stuck() {
    return bench.core.find("g").stuck();
  }

  @Test
  void itShowsAndThenAnotherGetsTheShards() {
    bench.ignoring.add("a1");
    bench.send(a);
    bench.pass(StuckMembers.IGNORED_SHOWN_MILLIS, a);
    assertThat(stuck().shards("a1")).isEmpty();
    bench.pass(1_000, a);
    assertThat(stuck().shards("a1")).containsExactly(new Shard(1, 0), new Shard(1, 1));
    assertThat(stuck().millis("a1", bench.now)).isEqualTo(StuckMembers.IGNORED_SHOWN_MILLIS);
    assertThat(stuck().count()).isEqualTo(2);
    bench.send(b);
    bench.pass(5_000, a, b).owned("bb").by(Cause.STUCK);
    bench.pass(20_000, a, b).owned("bb");
  }

  @Test
  void theOnlyMemberGetsThemAgainAtTheNextEpochs() {
    bench.ignoring.add("a1");
    bench.send(a);
    bench.pass(12_000, a).owned("aa");
    assertThat(bench.lease(0).epoch()).isEqualTo(2);
    bench.ignoring.clear();
    bench.pass(60_000, a);
    assertThat(bench.lease(0).epoch()).isEqualTo(2);
    assertThat(stuck().count()).isZero();
  }

  @Test
  void aHandOverOfWhatIsNotHeldIsNotWaitedFor() {
    bench.ignoring.add("a1");
    bench.send(a, b);
    assertThat(bench.lease(1).drain()).isNotNull();
    bench.pass(12_000, a, b).owned("bb");
  }

  @Test
  void aLeaderThatIgnoresItsShardsGetsThemAtTheNextEpochs() {
    Heartbeat leader = Heartbeats.with(a, "policy", GroupPolicy.of(GroupPolicy.MODE_SINGLETON));
    bench.ignoring.add("a1");
    bench.after(leader).owned("aa").pass(12_000, leader).owned("aa");
    assertThat(bench.lease(1).epoch()).isEqualTo(2);
  }

  @Test
  void whoNamesItsShardsInTurnsIsGivenTheTime() {
    Bench many = Bench.withShards(Heartbeat.MARKS_MAX + 1);
    many.ignoring.add("a1");
    many.send(a);
    Heartbeat first =
        a.withMarks(
            many.told.get("a1").shards().stream()
                .limit(Heartbeat.MARKS_MAX)
                .map(
                    owned ->
                        new ShardProgress(
                            owned.shard(), owned.epoch(), null, null, null, null, null, null, null))
                .toList());
    many.pass(StuckMembers.UNNAMED_MILLIS_MAX, first);
    Shard last = new Shard(1, Heartbeat.MARKS_MAX);
    assertThat(many.core.find("g").stuck().count()).isZero();
    many.pass(StuckMembers.IGNORED_SHOWN_MILLIS + 1_000, first);
    assertThat(many.core.find("g").stuck().shards("a1")).isEqualTo(new TreeSet<>(List.of(last)));
  }
}
