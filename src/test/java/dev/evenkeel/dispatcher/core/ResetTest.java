package dev.evenkeel.dispatcher.core;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ResetTest {
  private final Bench bench = Bench.withShards(4);
  private final Heartbeat a = bench.beat("a");
  private final Heartbeat b = bench.beat("b");

  private void joined() {
    times(4, i -> bench.log.ends.put(new Shard(1, i), 100L));
    bench.after(a).owned("aaaa");
  }

  private DispatcherAction.Refuse refused(long request) {
    return (DispatcherAction.Refuse) bench.answer(request);
  }

  private DispatcherAction.ResetDone done(long request) {
    return (DispatcherAction.ResetDone) bench.answer(request);
  }

  @Test
  void isRefusedWhileAMemberOwnsAShard() {
    joined();
    DispatcherAction.Refuse refuse = refused(bench.reset(false, 5, 0, 1));
    assertThat(refuse.refusal()).isEqualTo(Refusal.GROUP_ACTIVE);
    assertThat(refuse.detail()).contains("'a' owns shard t/0").contains("force");
    assertThat(bench.lease(0).epoch()).isEqualTo(1);
    assertThat(bench.reset(false, 5, 9)).isNotNegative();
  }

  @Test
  void aGroupWhoseMembersLeftOrDiedIsResetAtOnce() {
    joined();
    bench.send(Bench.leaving(a));
    long request = bench.reset(false, 7, 0, 1, 2, 3);
    assertThat(done(request).leases().values())
        .allMatch(lease -> lease.committed() == 7 && lease.generation().number() == 1);
    bench.after(b).owned("bbbb").pass(6_000);
    // It is dead, and nobody has taken over.
    assertThat(done(bench.reset(false, 3, 2)).leases().values())
        .allMatch(lease -> lease.committed() == 3 && !lease.owned());
  }

  @Test
  void byForceTheOwnerLetsGoFirstAndGetsTheShardAgain() {
    joined();
    long request = bench.reset(true, 5, 2);
    assertThat(bench.answer(request)).isNull();
    assertThat(bench.lease(2).drain()).isNotNull();
    assertThat(bench.lease(1).drain()).isNull();
    bench.pass(2_000, a);
    assertThat(bench.lease(2).drain()).as("it is not called off").isNotNull();
    bench.release(2);
    assertThat(done(request).leases().get(new Shard(1, 2)).committed()).isEqualTo(5);
    assertThat(bench.owners()).isEqualTo("aaaa");
    assertThat(bench.lease(2).epoch()).isEqualTo(3);
    assertThat(bench.told.get("a1").shards())
        .anyMatch(
            owned -> owned.shard().shard() == 2 && owned.epoch() == 3 && owned.committed() == 5);
    bench.by(Cause.RESET);
  }

  @Test
  void anOwnerThatHangsIsFencedAtTheCapAndWhoAskedIsToldBefore() {
    joined();
    long epoch = bench.lease(2).epoch();
    long request = bench.reset(true, 5, 2);
    bench.pass(21_000, a);
    assertThat(done(request).leases()).containsEntry(new Shard(1, 2), null);
    assertThat(bench.lease(2).epoch()).isEqualTo(epoch);
    bench.pass(31_000, a);
    assertThat(bench.lease(2).epoch()).isEqualTo(epoch + 2);
    assertThat(bench.lease(2).generation().number()).isEqualTo(1);
    Reply late = bench.log.apply(new DataCommand.Release("g", new Shard(1, 2), epoch, 9, -1, null));
    assertThat(((Reply.Refused) late).refusal()).isEqualTo(Refusal.FENCED);
  }

  @Test
  void anOwnerThatDiesMeanwhileIsNotWaitedFor() {
    joined();
    bench.send(b);
    long request = bench.reset(true, 5, 0);
    bench.pass(6_000, b);
    assertThat(done(request).leases().get(new Shard(1, 0)).committed()).isEqualTo(5);
    assertThat(bench.owners()).isEqualTo("bbbb");
  }

  @Test
  void whatTheLogRefusesIsToldAndGivenUp() {
    joined();
    bench.send(Bench.leaving(a));
    long request = bench.reset(false, 101, 0, 1);
    assertThat(refused(request).refusal()).isEqualTo(Refusal.OFFSET_OUT_OF_RANGE);
    assertThat(refused(request).detail()).contains("t/0").contains("beyond the end");
    long epoch = bench.lease(0).epoch();
    bench.pass(10_000);
    assertThat(bench.lease(0).epoch()).isEqualTo(epoch);
    assertThat(done(bench.reset(false, 100, 0, 1)).leases()).hasSize(2);
  }

  @Test
  void aLostAnswerIsFoundOut() {
    joined();
    bench.send(Bench.leaving(a));
    bench.loseNextAnswer = true;
    long request = bench.reset(false, 4, 0);
    bench.pass(10_000);
    assertThat(done(request).leases().get(new Shard(1, 0)).committed()).isEqualTo(4);
  }

  @Test
  void twoAtOnceAreRefusedAndWhoWaitsHearsOfTheEnd() {
    joined();
    long first = bench.reset(true, 5, 0);
    assertThat(refused(bench.reset(true, 6, 0, 1)).refusal()).isEqualTo(Refusal.OVERLOADED);
    bench.run(bench.core.stop(Refusal.NOT_LEADER, "n2"));
    assertThat(refused(first).refusal()).isEqualTo(Refusal.NOT_LEADER);
    assertThat(List.of(refused(first).detail())).containsExactly("n2");
  }

  @Test
  void aShardWhoseGrantFailedBeforeItWasResetKeepsNobodyFromBeingTold() {
    joined();
    bench.send(b);
    bench.pass(4_750, b);
    // It times out now; the first of its shards is not granted on.
    bench.refuseNext = Refusal.UNAVAILABLE;
    bench.pass(250, b);
    int kept = bench.owners().indexOf('a');
    assertThat(kept).as(bench.owners()).isNotNegative();
    long request = bench.reset(false, 5, kept);
    bench.pass(2_000, b);
    assertThat(done(request).leases().get(new Shard(1, kept)).committed()).isEqualTo(5);
    assertThat(bench.owners()).isEqualTo("bbbb");
    assertThat(bench.told.get("b1").shards()).hasSize(4);
  }

  @Test
  void withoutForceItIsRefusedAlsoToOneWhoCameToOwnTheShardMeanwhile() {
    joined();
    bench.send(Bench.leaving(a), b, Bench.leaving(b));
    bench.refuseNext = Refusal.UNAVAILABLE;
    long request = bench.reset(false, 5, 0);
    assertThat(bench.answer(request)).isNull();
    // Another dispatcher, which knows nothing of the reset, was faster.
    DataCommand grant =
        Commands.grant("g", new Shard(1, 0), "b", "b2", bench.lease(0).epoch(), StartAt.EARLIEST);
    Reply.OfLease granted = (Reply.OfLease) bench.log.apply(grant);
    bench.run(bench.core.leaseChanged(LeaseChange.of(granted.lease()), bench.now));
    bench.pass(2_000, bench.beat("b", "b2", 200));
    assertThat(refused(request).refusal()).isEqualTo(Refusal.GROUP_ACTIVE);
    assertThat(refused(request).detail()).contains("'b' has come to own it");
    assertThat(bench.lease(0).epoch()).isEqualTo(granted.lease().epoch());
    assertThat(bench.owners()).isEqualTo("bbbb");
  }

  @Test
  void aLateAnswerToAResetThatWasGivenUpIsNotTakenForTheNextOne() {
    joined();
    bench.log.ends.put(new Shard(1, 1), 10L);
    bench.send(Bench.leaving(a));
    bench.lateShard = 0;
    long first = bench.reset(false, 50, 0, 1);
    assertThat(refused(first).refusal()).isEqualTo(Refusal.OFFSET_OUT_OF_RANGE);
    assertThat(bench.lease(0).committed()).isEqualTo(50);
    long second = bench.reset(false, 3, 0);
    bench.answerLate();
    bench.pass(2_000);
    assertThat(done(second).leases().get(new Shard(1, 0)).committed()).isEqualTo(3);
  }

  @Test
  void aLostOwnerHasItsCrashLockTimeToGiveAShardBack() {
    var locked = a.withWishes(new Heartbeat.Wishes(null, null, 30_000, null, null, null, null));
    bench.log.ends.put(new Shard(1, 0), 100L);
    bench.log.ends.put(new Shard(1, 1), 100L);
    bench.send(locked);
    bench.pass(6_000);
    DispatcherAction.Refuse refuse = refused(bench.reset(false, 5, 0));
    assertThat(refuse.refusal()).isEqualTo(Refusal.GROUP_ACTIVE);
    assertThat(refuse.detail())
        .containsPattern("'a' was lost and has 2\\d s .*t/0 .*try again .*force");
    long request = bench.reset(true, 5, 0, 1);
    bench.pass(1_000);
    assertThat(bench.answer(request)).isNull();
    assertThat(bench.owners()).isEqualTo("aaaa");
    bench.release(0);
    assertThat(bench.lease(0).committed()).as("it came back to give it back").isEqualTo(5);
    bench.pass(20_000);
    assertThat(done(request).leases().get(new Shard(1, 0)).committed()).isEqualTo(5);
    assertThat(done(request).leases()).containsEntry(new Shard(1, 1), null);
    assertThat(done(request).waits()).containsOnlyKeys(new Shard(1, 1));
    assertThat(done(request).waits().get(new Shard(1, 1)))
        .containsPattern("'a' was lost and has \\d s");
    assertThat(bench.lease(1).generation().number()).isZero();
    bench.pass(10_000);
    assertThat(bench.lease(1).committed()).as("that is over").isEqualTo(5);
    assertThat(done(bench.reset(false, 0, 2, 3)).leases()).doesNotContainValue(null);
  }

  @Test
  void whoComesBackWithinItsCrashLockTimeLetsGoInGoodOrder() {
    var locked = a.withWishes(new Heartbeat.Wishes(null, null, 30_000, null, null, null, null));
    bench.log.ends.put(new Shard(1, 0), 100L);
    bench.send(locked);
    bench.pass(6_000);
    long request = bench.reset(true, 5, 0);
    bench.send(locked);
    assertThat(bench.lease(0).drain()).isNotNull();
    assertThat(bench.answer(request)).isNull();
    bench.release(0);
    assertThat(done(request).leases().get(new Shard(1, 0)).committed()).isEqualTo(5);
    assertThat(bench.owners()).isEqualTo("aaaa");
  }

  @Test
  void whoAskedIsToldWhatIsWaitedFor() {
    joined();
    long request = bench.reset(true, 5, 0, 2);
    bench.release(0).pass(21_000, a);
    assertThat(done(request).waits())
        .containsExactly(Map.entry(new Shard(1, 2), "'a' lets go of it, for 30 s at most"));
  }

  @Test
  void aResetEndsWithItsTopicAndTheNextOfThatNameIsNotReset() {
    joined();
    long told = bench.reset(true, 5, 0);
    bench.pass(21_000, a);
    assertThat(done(told).leases()).containsEntry(new Shard(1, 0), null);
    long waiting = bench.reset(true, 5, 1);
    bench.log.topics.clear();
    bench.log.topic(2, "t", 4);
    bench.run(bench.core.topicsChanged(bench.now));
    assertThat(refused(waiting).refusal()).isEqualTo(Refusal.UNKNOWN_SHARD);
    assertThat(refused(waiting).detail()).isEqualTo("t/1: the topic was deleted");
    assertThat(bench.core.find("g").plan().resets(List.of(new Shard(1, 0), new Shard(1, 1))))
        .isFalse();
    bench.pass(60_000, a);
    for (int i = 0; i < 4; i++) {
      assertThat(bench.log.lease("g", new Shard(2, i)).generation().number()).isZero();
      assertThat(bench.log.lease("g", new Shard(2, i)).epoch()).isEqualTo(1);
    }
  }

  @Test
  void whatIsRefusedTakesNoOtherResetWithIt() {
    joined();
    bench.log.ends.put(new Shard(1, 0), 200L);
    long first = bench.reset(true, 150, 0, 1);
    bench.release(0);
    long second = bench.reset(true, 50, 0);
    bench.release(1);
    assertThat(refused(first).refusal()).isEqualTo(Refusal.OFFSET_OUT_OF_RANGE);
    bench.release(0);
    assertThat(done(second).leases().get(new Shard(1, 0)).committed()).isEqualTo(50);
  }
}
