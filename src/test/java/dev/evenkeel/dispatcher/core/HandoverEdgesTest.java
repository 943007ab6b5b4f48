package dev.evenkeel.dispatcher.core;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.assign.Assignor;
import dev.evenkeel.assign.Snapshot;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What may go wrong in the middle of a hand-over: each shard ends with exactly one owner. */
class HandoverEdgesTest {
  private final Bench bench = Bench.withShards(4);
  private final Heartbeat a = bench.beat("a");
  private final Heartbeat b = bench.beat("b");
  private final Heartbeat c = bench.beat("c");

  /** Shards 2 and 3 are on their way from a to b. */
  private void movingTwo() {
    bench.send(a, b);
    assertThat(bench.lease(2).drain().to()).isEqualTo("b");
    bench.clear();
  }

  /** Each member that lives owns what the log says, at that epoch, and nothing else. */
  private void everyoneKnows(String... members) {
    for (String member : members) {
      Map<Shard, Long> owned = new HashMap<>();
      for (int shard = 0; shard < 4; shard++) {
        if (member.equals(bench.lease(shard).owner())) {
          owned.put(new Shard(1, shard), bench.lease(shard).epoch());
        }
      }
      Map<Shard, Long> told = new HashMap<>();
      bench.told.get(member + "1").shards().forEach(each -> told.put(each.shard(), each.epoch()));
      assertThat(told).isEqualTo(owned);
    }
  }

  @Test
  void whoGetsAShardNextIsToldBeforeItIsReleased() {
    movingTwo();
    bench.send(b);
    Assignment told = bench.told.get("b1");
    assertThat(told.shards()).isEmpty();
    assertThat(told.coming())
        .containsExactly(
            new Assignment.Coming(new Shard(1, 2), 2), new Assignment.Coming(new Shard(1, 3), 2));
    bench.release(2);
    told = bench.told.get("b1");
    assertThat(told.shards()).extracting(Assignment.Owned::shard).containsExactly(new Shard(1, 2));
    assertThat(told.coming()).containsExactly(new Assignment.Coming(new Shard(1, 3), 2));
    assertThat(Assignment.fromJson(told.toJson())).isEqualTo(told);
  }

  @Test
  void whoHangsInItsReleaseLosesTheShardAtTheCapAndIsFenced() {
    movingTwo();
    long epoch = bench.lease(2).epoch();
    bench.pass(51_000, a, b).owned("aabb");
    Reply late = bench.log.apply(new DataCommand.Release("g", new Shard(1, 2), epoch, 9, -1, null));
    assertThat(((Reply.Refused) late).refusal()).isEqualTo(Refusal.FENCED);
    assertThat(bench.owners()).isEqualTo("aabb");
    bench.by(Cause.CAP);
    everyoneKnows("a", "b");
  }

  @Test
  void whoDiesInTheMiddleIsNotWaitedFor() {
    movingTwo();
    bench.pass(6_000, b).owned("bbbb");
    assertThat(bench.lease(2).drain()).isNull();
    everyoneKnows("b");
  }

  @Test
  void aReleaseThatEndsEarlyTransfersAtOnce() {
    movingTwo();
    bench.release(2).owned("aaba").release(3).owned("aabb");
    everyoneKnows("a", "b");
  }

  private MoveRecord last() {
    return bench.core.moves().recent("g", 1).get(0);
  }

  private DataCommand.Release releaseOf(int shard) {
    Lease lease = bench.lease(shard);
    return new DataCommand.Release("g", lease.shard(), lease.epoch(), 0, -1, null);
  }

  @Test
  void aReleaseGrantsTheShardToTheNextOwnerWithoutAnotherRequest() {
    movingTwo();
    bench.now += 300;
    bench.release(2);
    assertThat(bench.writes()).isEmpty();
    assertThat(bench.lease(2).instance()).isEqualTo("b1");
    assertThat(bench.lease(2).epoch()).isEqualTo(2);
    everyoneKnows("a", "b");
    assertThat(last().from()).isEqualTo("a");
    assertThat(last().to()).isEqualTo("b");
    assertThat(last().epoch()).isEqualTo(2);
    assertThat(last().reason()).isEqualTo(Cause.JOIN.word());
    assertThat(last().releaseMillis()).isEqualTo(300);
    assertThat(last().redelivered()).isZero();
    assertThat(last().capped()).isFalse();
  }

  @Test
  void aReleaseThatNobodyAnnouncedIsFoundInTheLog() {
    movingTwo();
    bench.log.apply(releaseOf(2));
    bench.pass(6_000, a, b);
    assertThat(bench.writes()).as("of shard 2").isEmpty();
    everyoneKnows("a", "b");
    assertThat(last().shard().shard()).isEqualTo(2);
    assertThat(last().from()).isEqualTo("a");
    assertThat(last().reason()).isEqualTo(Cause.JOIN.word());
  }

  @Test
  void theAnswerToADrainMayComeAfterTheRelease() {
    bench.send(a);
    bench.lateShard = 2;
    bench.send(b);
    bench.now += 100;
    bench.release(2);
    assertThat(last().from()).isEqualTo("a");
    assertThat(last().reason()).isEqualTo(Cause.JOIN.word());
    bench.answerLate();
    bench.release(3).owned("aabb");
    everyoneKnows("a", "b");
    // Nothing is left of that hand-over: the next one has figures of its own.
    bench.now += 60_000;
    bench.send(a, b, c);
    int moving = bench.lease(2).drain() != null ? 2 : 3;
    bench.now += 50;
    bench.release(moving);
    assertThat(last().to()).isEqualTo("c");
    assertThat(last().releaseMillis()).isEqualTo(50);
  }

  @Test
  void theMoveAfterADrainWhoseAnswerWasLostIsRecordedWithItsCause() {
    bench.send(a);
    bench.loseNextAnswer = true;
    bench.send(b);
    assertThat(bench.lease(2).drain().to()).isEqualTo("b");
    bench.release(2).pass(2_000, a, b);
    MoveRecord move =
        bench.core.moves().recent("g", 9).stream()
            .filter(each -> each.shard().shard() == 2)
            .findFirst()
            .orElseThrow();
    assertThat(move.from()).isEqualTo("a");
    assertThat(move.to()).isEqualTo("b");
    assertThat(move.reason()).isEqualTo(Cause.JOIN.word());
    everyoneKnows("a", "b");
  }

  @Test
  void aShardThatAReleaseGrantedToOneWhoDiedIsGrantedAgain() {
    movingTwo();
    // The dispatcher knows neither of the release nor of the death when the log takes the release.
    bench.log.apply(releaseOf(2));
    assertThat(bench.lease(2).owner()).isEqualTo("b");
    bench.pass(12_000, a).owned("aaaa");
    assertThat(bench.lease(2).epoch()).isEqualTo(3);
    everyoneKnows("a");
    assertThat(last().from()).isEqualTo("b");
    assertThat(last().reason()).isEqualTo(Cause.TIMEOUT.word());
  }

  @Test
  void anotherRunOfTheNextOwnerGetsTheShardInItsPlace() {
    movingTwo();
    Heartbeat later = bench.beat("b", "b2", 200);
    bench.send(later);
    assertThat(bench.lease(2).drain().heir().instance()).isEqualTo("b2");
    bench.release(2);
    assertThat(bench.lease(2).instance()).isEqualTo("b2");
    assertThat(bench.lease(2).epoch()).isEqualTo(2);
  }

  @Test
  void theNextDispatcherRecordsAMoveThatTheOneBeforeItBegan() {
    movingTwo();
    bench.activate(List.of());
    bench.release(2).owned("aaba");
    assertThat(last().from()).isEqualTo("a");
    assertThat(last().to()).isEqualTo("b");
    assertThat(last().epoch()).isEqualTo(2);
    bench.pass(1_000, a, b);
    everyoneKnows("a", "b");
  }

  @Test
  void aMoveWhoseTargetLeftIsCalledOffOrRedirected() {
    bench.send(a, b, c);
    Drain drain = bench.lease(3).drain();
    assertThat(drain.to()).isEqualTo("c");
    bench.now += 1_000;
    bench.send(Bench.leaving(c));
    // To b, with the deadline that it had; the other is a's again, as it never left.
    assertThat(bench.lease(3).drain())
        .isEqualTo(new Drain("b", drain.deadlineMillis(), new Drain.Heir("b1", 5_000)));
    bench.send(Bench.leaving(b));
    assertThat(bench.lease(3).drain()).isNull();
    assertThat(bench.lease(2).drain()).isNull();
    assertThat(bench.owners()).isEqualTo("aaaa");
    assertThat(bench.lease(3).epoch()).isEqualTo(1);
    everyoneKnows("a");
  }

  @Test
  void aReleasedShardWhoseTargetJustLeftGoesToAnotherWithoutADetour() {
    bench.send(a, b, c).release(2);
    bench.send(Bench.leaving(c));
    bench.release(3);
    assertThat(bench.lease(3).owner()).isEqualTo("b");
    assertThat(bench.lease(3).epoch()).isEqualTo(2);
  }

  @Test
  void aGrantWhoseAnswerIsLostIsFoundInTheLog() {
    movingTwo();
    bench.loseNextAnswer = true;
    bench.release(2);
    assertThat(bench.lease(2).owner()).isEqualTo("b");
    bench.pass(2_000, a, b);
    assertThat(bench.lease(2).epoch()).isEqualTo(2);
    bench.release(3).owned("aabb");
    everyoneKnows("a", "b");
  }

  @Test
  void aDrainWhoseAnswerIsLostGoesOnWithItsDeadline() {
    bench.send(a);
    bench.loseNextAnswer = true;
    bench.send(b);
    Drain drain = bench.lease(2).drain();
    bench.pass(2_000, a, b);
    assertThat(bench.lease(2).drain()).isEqualTo(drain);
    bench.release(2, 3).owned("aabb");
    everyoneKnows("a", "b");
  }

  @Test
  void aMemberThatLeavesAndReturnsUnderItsNameIsAnotherRun() {
    movingTwo();
    bench.send(Bench.leaving(b));
    assertThat(bench.lease(2).drain()).isNull();
    Heartbeat again = bench.beat("b", "b2", 200);
    bench.send(again);
    assertThat(bench.lease(2).drain().to()).isEqualTo("b");
    bench.release(2, 3);
    assertThat(bench.lease(2).instance()).isEqualTo("b2");
    assertThat(bench.owners()).isEqualTo("aabb");
    // The former run comes late, and gets nothing.
    assertThat(bench.refusal(b)).isIn(Refusal.MEMBER_REPLACED, Refusal.INVALID);
    assertThat(bench.owners()).isEqualTo("aabb");
  }

  @Test
  void anOwnerThatLeavesAndReturnsInTheMiddleOfItsMoveReleasesNothingTwice() {
    movingTwo();
    bench.release(2).after(Bench.leaving(a)).owned("bbbb");
    bench.send(bench.beat("a", "a2", 200));
    bench.release(0, 1).owned("aabb");
    assertThat(bench.lease(0).instance()).isEqualTo("a2");
    assertThat(bench.lease(0).epoch()).isEqualTo(3);
  }

  /** Turns owners round once it is told to: whoever owns a shard, the other shall. */
  private static final class Turning implements Assignor {
    Map<Shard, String> wanted;

    @Override
    public String name() {
      return "turning";
    }

    @Override
    public Map<Shard, String> assign(Snapshot snapshot) {
      if (wanted != null) {
        return wanted;
      }
      Map<Shard, String> even = new HashMap<>();
      snapshot
          .shards()
          .forEach(held -> even.put(held.shard(), held.shard().shard() < 2 ? "a" : "b"));
      snapshot.members().stream()
          .filter(member -> snapshot.members().size() == 1)
          .forEach(only -> even.replaceAll((shard, owner) -> only.name()));
      return even;
    }
  }

  @Test
  void twoMembersThatSwapWaitForNobodyButEachOwnersRelease() {
    Turning turning = new Turning();
    bench.assignors.put("sticky", turning);
    bench.activate(List.of());
    bench.send(a, b).release(2, 3).owned("aabb");
    turning.wanted = new HashMap<>();
    times(4, shard -> turning.wanted.put(new Shard(1, shard), shard < 2 ? "b" : "a"));
    bench.pass(6_000, a, b).owned("aabb").release(3).owned("aaba");
    bench.release(0, 2, 1).owned("bbaa").pass(10_000, a, b).owned("bbaa");
    everyoneKnows("a", "b");
  }

  /**
   * The walk of a join, a leave and a death, with the dispatcher dying at its n-th request to the
   * log, which still takes it or does not; a new one follows.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aDispatcherThatDiesBetweenAnyTwoStepsStrandsNothing(boolean lastArrives) {
    boolean survived = false;
    for (int step = 0; !survived; step++) {
      Bench each = Bench.withShards(4);
      each.lastWriteArrives = lastArrives;
      each.diesAtWrite = step;
      walk(each);
      survived = !each.dead() && each.diesAtWrite >= 0;
      assertThat(step).isLessThan(100);
    }
  }

  private void walk(Bench each) {
    String where = "dispatcher died with " + each.diesAtWrite;
    each.send(a);
    follow(each);
    each.pass(1_000, a);
    each.send(b);
    follow(each);
    settle(each, a, b);
    assertThat(each.owners()).as(where).isEqualTo("aabb");
    each.send(c);
    follow(each);
    settle(each, a, b, c);
    assertThat(each.owners()).as(where).contains("a", "b", "c");
    each.send(Bench.leaving(b));
    follow(each);
    settle(each, a, c);
    assertThat(each.owners()).as(where).doesNotContain("b", "-");
    each.pass(6_000, c);
    follow(each);
    settle(each, c);
    assertThat(each.owners()).as(where).isEqualTo("cccc");
    times(4, shard -> assertThat(each.lease(shard).drain()).as(where).isNull());
  }

  private static void follow(Bench each) {
    if (each.dead()) {
      each.activate(List.of());
    }
  }

  /** Time passes; who is asked to let go of a shard does so. */
  private static void settle(Bench each, Heartbeat... alive) {
    for (int round = 0; round < 12; round++) {
      each.pass(1_000, alive);
      follow(each);
      for (int shard = 0; shard < 4; shard++) {
        if (each.lease(shard) != null && each.lease(shard).drain() != null) {
          if (each.lease(shard).owned()) {
            each.release(shard);
            follow(each);
          }
        }
      }
    }
  }

  /** A heartbeat of a: after a crash, its shards wait for {@code lockMillis}. */
  private Heartbeat careful(long lockMillis) {
    return a.withWishes(new Heartbeat.Wishes(null, null, lockMillis, null, null, null, null));
  }

  /** It has two of the four shards and is not heard of any more. */
  private Heartbeat carefulCrashes(long lockMillis) {
    Heartbeat careful = careful(lockMillis);
    bench.send(careful, b).release(2, 3).pass(6_000, b);
    return careful;
  }

  @Test
  void theShardsOfOneThatCrashedWaitForARelease() {
    Heartbeat careful = carefulCrashes(8_000);
    assertThat(bench.core.find("g").members().live("a")).isNull();
    assertThat(bench.owners()).isEqualTo("aabb");
    // One release comes, with what the owner had; the other shard waits for its time.
    bench.release(0).owned("babb").pass(6_500, b).owned("babb");
    bench.pass(1_000, b).owned("bbbb").by(Cause.TIMEOUT);
  }

  @Test
  void oneThatCrashedAndReturnsInTimeKeepsItsShards() {
    Heartbeat careful = carefulCrashes(8_000);
    assertThat(bench.send(careful)).isInstanceOf(Assignment.class);
    bench.pass(20_000, careful, b).owned("aabb");
    assertThat(bench.lease(0).epoch()).isEqualTo(1);
  }

  @Test
  void aLaterRunOfOneThatCrashedEndsTheWait() {
    Heartbeat careful = carefulCrashes(600_000);
    bench.owned("aabb");
    bench.after(bench.beat("a", "a2", 200).withWishes(careful.wishes())).owned("aabb");
    assertThat(bench.lease(0).instance()).isEqualTo("a2");
    assertThat(bench.lease(1).instance()).isEqualTo("a2");
  }

  @Test
  void aReplacedOrLeavingRunIsNotWaitedFor() {
    Heartbeat careful = careful(8_000);
    bench.send(careful);
    bench.send(bench.beat("a", "a2", 200).withWishes(careful.wishes()));
    assertThat(bench.lease(0).instance()).isEqualTo("a2");
    bench.send(b);
    bench.after(Bench.leaving(bench.beat("a", "a2", 200))).owned("bbbb");
  }

  @Test
  void theLockOfAnUnheardOwnerIsInTheRegistry() {
    bench.send(a);
    UnheardMember ghost =
        new UnheardMember(
            "g",
            "a",
            "a1",
            100L,
            List.of("t"),
            "c1",
            "host",
            bench.now + 5_000,
            5_000,
            new Heartbeat.Wishes(null, null, 8_000, null, null, null, null),
            null);
    bench.activate(List.of(ghost));
    bench.send(b);
    bench.run(bench.core.clusterMembers(Set.of("c2"), bench.now));
    bench.pass(7_500, b).owned("aaaa").pass(1_000, b).owned("bbbb");
  }

  @Test
  void whoIsWaitedForAfterItsDeathStaysInTheRegistryUntilThen() {
    Heartbeat careful = careful(8_000);
    bench.send(careful, b);
    bench.clear();
    bench.pass(6_000, b);
    assertThat(bench.core.find("g").members().live("a")).isNull();
    assertThat(unregistered()).isEmpty();
    bench.pass(6_000, b);
    assertThat(unregistered()).isEmpty();
    bench.pass(3_000, b);
    assertThat(unregistered()).containsExactly("a");
    bench.pass(20_000, b);
    assertThat(unregistered()).containsExactly("a");
    bench.send(Bench.leaving(b));
    assertThat(unregistered()).containsExactly("a", "b");
  }

  @Test
  void aRunThatTakesTheNameKeepsTheEntry() {
    Heartbeat careful = careful(8_000);
    bench.send(careful, b).pass(6_000, b);
    Heartbeat later = bench.beat("a", "a2", 200);
    bench.clear();
    bench.send(later);
    bench.pass(20_000, later, b);
    assertThat(unregistered()).isEmpty();
  }

  private List<String> unregistered() {
    return bench.actions.stream()
        .filter(DispatcherAction.Unregister.class::isInstance)
        .map(action -> ((DispatcherAction.Unregister) action).member())
        .toList();
  }

  @Test
  void aHintOfAnotherDispatchersGrantEndsTheMove() {
    movingTwo();
    Shard shard = new Shard(1, 2);
    Drain plain = bench.lease(2).drain().withoutHeir();
    bench.log.apply(new DataCommand.SetDrain("g", shard, 1, plain));
    bench.log.apply(releaseOf(2));
    Reply granted = bench.log.apply(Commands.grant("g", shard, "b", "b1", 1, null));
    bench.run(
        bench.core.leaseChanged(LeaseChange.of(((Reply.OfLease) granted).lease()), bench.now));
    bench.release(3).pass(2_000, a, b).owned("aabb");
    assertThat(bench.lease(2).epoch()).isEqualTo(2);
    everyoneKnows("a", "b");
  }
}
