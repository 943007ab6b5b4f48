package dev.evenkeel.dispatcher.core;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.assign.GroupStatus;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import java.util.List;
import org.junit.jupiter.api.Test;

/** In mode singleton one member has all shards, and the group's lease says at which term. */
class SingletonTest {
  private final Bench bench = Bench.withShards(3);
  private final Heartbeat a = single("a", 100);
  private final Heartbeat b = single("b", 200);
  private final Heartbeat c = single("c", 300);

  private Heartbeat single(String name, long born) {
    return Heartbeats.with(
        bench.beat(name, name + "1", born), "policy", GroupPolicy.of("singleton"));
  }

  private static Heartbeat resigned(Heartbeat beat, long term) {
    return beat.withWishes(Heartbeat.Wishes.NONE.resignedAt(term));
  }

  private Assignment.Lead lead(Heartbeat beat) {
    return ((Assignment) bench.send(beat)).lead();
  }

  private long term() {
    return bench.log.groupLeases.get("g").term();
  }

  private void releaseAll() {
    times(3, shard -> bench.release(shard));
  }

  @Test
  void theFirstLeadsAndTheOthersWait() {
    bench.send(a, b).owned("aaa");
    assertThat(lead(a)).isEqualTo(new Assignment.Lead(1, true, false));
    assertThat(lead(b)).isNull();
    assertThat(bench.lease(2).groupTerm()).isEqualTo(1);
    assertThat(bench.core.find("g").leader()).isEqualTo("a");
    assertThat(bench.core.find("g").term()).isEqualTo(1);
    assertThat(bench.core.find("g").status(bench.core.topics())).isEqualTo(GroupStatus.OK);
  }

  @Test
  void whoComesDoesNotTakeTheLeadAway() {
    bench.send(b, a).pass(10_000, a, b).owned("bbb");
    assertThat(term()).isEqualTo(1);
  }

  /** Its leases end before the dispatcher hears of that; nobody would wait for its leader. */
  @Test
  void theLeaderOfATopicThatIsDeletedLeadsAfterItIsCreatedAgain() {
    bench.send(a, b);
    for (int shard = 0; shard < 3; shard++) {
      Lease gone = bench.log.leases.get("g").remove(new Shard(1, shard));
      bench.run(bench.core.leaseChanged(LeaseChange.forgotten(gone), bench.now));
    }
    assertThat(term()).isEqualTo(1);
    bench.log.topics.remove(0);
    bench.run(bench.core.topicsChanged(bench.now));
    bench.log.topic(2, "t", 3);
    bench.run(bench.core.topicsChanged(bench.now));
    bench.send(b, a);
    assertThat(bench.log.groupLeases.get("g").holder()).isEqualTo("a");
  }

  /** One shard takes the place of these, which are consumed to their ends. */
  private void replace(int first, int end) {
    bench.log.topics.set(0, bench.log.topics.get(0).opening(1, List.of()).opened(bench.now));
    bench.run(bench.core.topicsChanged(bench.now));
    for (int shard = first; shard < end; shard++) {
      Lease finished = bench.lease(shard).released(0, -1, null).at(Lease.Stage.FINISHED);
      bench.log.leases.get("g").put(finished.shard(), finished);
      bench.run(bench.core.leaseChanged(LeaseChange.of(finished), bench.now));
    }
    bench.pass(1_000, a, b);
  }

  /** The leases on a layout that is forgotten are not shards that the leader has given back. */
  @Test
  void theTermStaysWhenTheNextLayoutIsFinishedToo() {
    bench.send(a, b);
    replace(0, 3);
    assertThat(bench.lease(3).owner()).isEqualTo("a");
    bench.log.topics.set(0, bench.log.topics.get(0).withoutOldest(true));
    bench.run(bench.core.topicsChanged(bench.now));
    for (int shard = 0; shard < 3; shard++) {
      Lease gone = bench.log.leases.get("g").remove(new Shard(1, shard));
      bench.run(bench.core.leaseChanged(LeaseChange.forgotten(gone), bench.now));
    }
    replace(3, 4);
    assertThat(bench.lease(4).owner()).isEqualTo("a");
    assertThat(term()).isEqualTo(1);
  }

  @Test
  void theLeadersDeathMakesTheNextRegisteredLeadAtAHigherTerm() {
    bench.send(a, c, b).pass(6_000, b, c).owned("bbb");
    assertThat(bench.log.groupLeases.get("g").heldBy("b1", 2)).isTrue();
    assertThat(bench.lease(0).groupTerm()).isEqualTo(2);
    bench.by(Cause.TIMEOUT);
    assertThat(lead(a)).as("back, and not the leader any more").isNull();
  }

  @Test
  void whoResignsHandsOverBeforeTheTermGrows() {
    bench.send(a, b);
    bench.send(resigned(a, 1));
    assertThat(lead(resigned(a, 1))).isEqualTo(new Assignment.Lead(1, true, true));
    assertThat(bench.lease(0).drain().to()).isEqualTo("b");
    bench.release(0, 1);
    assertThat(bench.owners()).as("the last shard is awaited").isEqualTo("--a");
    assertThat(term()).isEqualTo(1);
    bench.release(2).owned("bbb");
    assertThat(term()).isEqualTo(2);
    assertThat(lead(b)).isEqualTo(new Assignment.Lead(2, true, false));
    bench.by(Cause.RESIGNED);
    bench.pass(10_000, resigned(a, 1), b);
    assertThat(bench.owners()).as("it is not elected again").isEqualTo("bbb");
    bench.pass(6_000, resigned(a, 1));
    assertThat(bench.owners()).as("but if nobody else is there").isEqualTo("aaa");
    assertThat(term()).isEqualTo(3);
  }

  @Test
  void whoResignsAloneLeadsUntilSomebodyComes() {
    bench.send(a);
    bench.send(resigned(a, 1));
    bench.pass(2_000, resigned(a, 1));
    assertThat(lead(resigned(a, 1))).isEqualTo(new Assignment.Lead(1, true, false));
    bench.send(b);
    assertThat(lead(resigned(a, 1)).ending()).isTrue();
    releaseAll();
    assertThat(bench.owners()).isEqualTo("bbb");
  }

  @Test
  void aLateHeartbeatDoesNotTakeAResignationBack() {
    bench.send(a, b);
    bench.send(resigned(a, 1));
    assertThat(lead(a).ending()).isTrue();
    assertThat(bench.lease(0).drain()).isNotNull();
  }

  @Test
  void aHandOverIsWaitedForNoLongerThanTheLockTime() {
    bench.send(a, b);
    bench.send(resigned(a, 1));
    bench.release(1);
    bench.pass(49_000, resigned(a, 1), b).owned("a-a");
    assertThat(term()).isEqualTo(1);
    bench.pass(2_000, resigned(a, 1), b).owned("bbb");
    assertThat(term()).isEqualTo(2);
  }

  @Test
  void norForAShardOfATopicThatTheNextLeaderDoesNotRead() {
    bench.log.topic(2, "u", 1);
    bench.run(bench.core.topicsChanged(bench.now));
    Heartbeat both = Heartbeats.with(a, "topics", List.of("t", "u"));
    Shard u = new Shard(2, 0);
    bench.send(both, b).pass(1_000, both, b);
    assertThat(bench.log.lease("g", u).owner()).isEqualTo("a");
    bench.send(resigned(both, 1));
    releaseAll();
    bench.pass(49_000, resigned(both, 1), b).owned("---");
    assertThat(term()).isEqualTo(1);
    bench.pass(2_000, resigned(both, 1), b).owned("bbb");
    assertThat(term()).isEqualTo(2);
    assertThat(bench.log.lease("g", u).drain().to()).as("it stays asked for it").isEmpty();
  }

  @Test
  void aHandOverToWhoDiesIsCalledOff() {
    bench.send(a, b);
    bench.send(resigned(a, 1));
    bench.release(1);
    bench.pass(6_000, resigned(a, 1)).owned("aaa");
    assertThat(bench.lease(0).drain()).isNull();
    assertThat(term()).as("it led all the time").isEqualTo(1);
    assertThat(lead(resigned(a, 1))).isEqualTo(new Assignment.Lead(1, true, false));
  }

  @Test
  void whoHandedAllOverAndLeadsAgainHasANewTerm() {
    bench.send(a, b);
    bench.send(resigned(a, 1));
    bench.release(0, 1);
    bench.refuseNext = Refusal.UNAVAILABLE;
    bench.release(2).owned("---");
    bench.send(Bench.leaving(b));
    bench.pass(2_000, resigned(a, 1)).owned("aaa");
    assertThat(term()).isEqualTo(2);
    assertThat(lead(resigned(a, 1))).isEqualTo(new Assignment.Lead(2, true, false));
  }

  @Test
  void theNextDispatcherMovesNothing() {
    bench.send(a, b);
    bench.activate(List.of());
    bench.after(b).owned("aaa");
    bench.send(a);
    bench.pass(10_000, a, b).owned("aaa");
    assertThat(term()).isEqualTo(1);
    bench.activate(List.of());
    bench.pass(7_000, b).owned("bbb");
    assertThat(term()).isEqualTo(2);
  }

  @Test
  void aTermThatWasNotKnownIsReadAndTheLeadTakenAgain() {
    bench.send(a, b);
    bench.log.apply(new MetaCommand.GrantGroupLease("g", "b", "b1", 1, 0), bench.now);
    bench.send(resigned(a, 1));
    releaseAll();
    bench.pass(2_000, resigned(a, 1), b).owned("bbb");
    assertThat(bench.lease(0).groupTerm()).isEqualTo(term());
  }

  @Test
  void whatALeaderHasOfAnEarlierTermIsGrantedAnew() {
    bench.send(a);
    bench.log.apply(new MetaCommand.GrantGroupLease("g", "x", "x1", 1, 0), bench.now);
    bench.log.apply(new MetaCommand.GrantGroupLease("g", "a", "a1", 2, 0), bench.now);
    bench.activate(List.of());
    bench.send(a);
    bench.pass(1_000, a).owned("aaa");
    assertThat(bench.lease(0).groupTerm()).isEqualTo(3);
    assertThat(bench.lease(0).epoch()).isEqualTo(2);
    assertThat(lead(a)).isEqualTo(new Assignment.Lead(3, true, false));
  }

  @Test
  void whoHasSomeShardsOfAnEarlierTermGetsTheOthersUnderANewOne() {
    bench.send(a, c);
    // The former dispatcher took a for dead, and came to one shard of three.
    bench.log.apply(new MetaCommand.GrantGroupLease("g", "c", "c1", 1, 0), bench.now);
    bench.log.apply(Commands.grant("g", new Shard(1, 0), "c", "c1", 1, StartAt.EARLIEST, 2));
    bench.activate(List.of());
    bench.send(a);
    bench.pass(6_000, a).owned("aaa");
    assertThat(lead(a)).isEqualTo(new Assignment.Lead(3, true, false));
    assertThat(bench.lease(1).epoch()).isEqualTo(2);
  }

  @Test
  void aLeaderThatClosesHandsOver() {
    bench.send(a, b, a.asClosing());
    assertThat(lead(a.asClosing()).ending()).isTrue();
    releaseAll();
    assertThat(bench.owners()).isEqualTo("bbb");
    assertThat(term()).isEqualTo(2);
  }

  @Test
  void aLeaderThatIsStuckLosesTheLeadAtOnce() {
    Heartbeat stuck =
        a.withWishes(new Heartbeat.Wishes(null, 2_000L, 0, null, null, null, null))
            .withMarks(
                List.of(
                    new ShardProgress(
                        new Shard(1, 0), 1, 1L, null, null, 2_500L, null, null, null)));
    bench.send(a, b, stuck).owned("bbb");
    assertThat(term()).isEqualTo(2);
  }

  @Test
  void aMemberOfAnotherModeIsRefused() {
    bench.send(a);
    assertThat(bench.refusal(bench.beat("z"))).isEqualTo(Refusal.GROUP_MISMATCH);
    assertThat(bench.refusal(bench.beat("z").withWishes(Heartbeat.Wishes.NONE.resignedAt(1L))))
        .isEqualTo(Refusal.INVALID);
  }

  @Test
  void aGroupThatIsShardedAgainIsShared() {
    bench.send(a, Bench.leaving(a), bench.beat("d"), bench.beat("e"));
    bench.pass(1_000, bench.beat("d"), bench.beat("e"));
    assertThat(bench.owners()).contains("d");
    assertThat(bench.lease(0).groupTerm()).isEqualTo(1);
    assertThat(((Assignment) bench.send(bench.beat("d"))).lead()).isNull();
  }

  private long reset(long offset, int... shards) {
    times(3, shard -> bench.log.ends.put(new Shard(1, shard), 100L));
    return bench.reset(true, offset, shards);
  }

  @Test
  void aResetOfAllShardsIsAHandOverToTheNextTerm() {
    bench.send(a, b);
    long request = reset(5, 0, 1, 2);
    assertThat(lead(a)).isEqualTo(new Assignment.Lead(1, true, true));
    bench.release(0, 1).pass(2_000, a, b);
    assertThat(bench.owners()).as("the last shard is awaited").isEqualTo("--a");
    assertThat(term()).isEqualTo(1);
    assertThat(lead(a).ending()).isTrue();
    bench.release(2).owned("aaa");
    assertThat(lead(a)).isEqualTo(new Assignment.Lead(2, true, false));
    assertThat(((DispatcherAction.ResetDone) bench.answer(request)).leases().values())
        .hasSize(3)
        .allMatch(lease -> lease.committed() == 5);
    assertThat(bench.told.get("a1").shards()).allMatch(owned -> owned.committed() == 5);
  }

  @Test
  void theHandOverOfAResetIsWaitedForNoLongerThanTheLockTime() {
    bench.send(a, b);
    reset(5, 0, 1, 2);
    bench.release(1).pass(49_000, a, b).owned("a-a");
    assertThat(term()).isEqualTo(1);
    bench.pass(2_000, a, b).owned("aaa");
    assertThat(term()).isEqualTo(2);
    assertThat(bench.lease(0).committed()).isEqualTo(5);
  }

  @Test
  void aShardThatIsResetAloneComesAgainWithinTheTerm() {
    bench.send(a);
    reset(5, 1);
    assertThat(lead(a)).isEqualTo(new Assignment.Lead(1, true, false));
    bench.release(1).owned("aaa");
    assertThat(lead(a)).isEqualTo(new Assignment.Lead(1, true, false));
    assertThat(bench.lease(1).committed()).isEqualTo(5);
  }

  @Test
  void aLeaderThatDiesWhileAllIsResetIsFollowedAfterTheReset() {
    bench.send(a, b);
    reset(5, 0, 1, 2);
    bench.release(0).pass(6_000, b).owned("bbb");
    assertThat(term()).isEqualTo(2);
    times(3, shard -> assertThat(bench.lease(shard).committed()).isEqualTo(5));
  }

  @Test
  void aResetThatTheLogRefusesIsCalledOffAndTheLeaderGoesOn() {
    bench.send(a);
    reset(101, 0, 1, 2);
    assertThat(lead(a).ending()).isTrue();
    bench.release(0).pass(2_000, a).owned("aaa");
    assertThat(lead(a)).isEqualTo(new Assignment.Lead(1, true, false));
    assertThat(bench.lease(1).drain()).isNull();
  }
}
