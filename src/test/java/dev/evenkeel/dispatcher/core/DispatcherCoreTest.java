package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.assign.GroupStatus;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.dispatcher.ModelLog;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class DispatcherCoreTest {
  private final Bench bench = Bench.withShards(2);
  private final Heartbeat a = bench.beat("a");
  private final Heartbeat b = bench.beat("b");

  @Nested
  class Moving {
    @Test
    void firstMemberGetsEverythingAndIsTold() {
      Bench bench = Bench.withShards(4);
      bench.after(bench.beat("a")).owned("aaaa");
      assertThat(bench.told.get("a1").shards()).hasSize(4);
      assertThat(bench.log.groups.get("g").topics()).containsExactly("t");
    }

    @Test
    void secondMemberGetsHalfAfterTheReleaseAndTheRestIsUntouched() {
      Bench bench = Bench.withShards(4);
      bench.send(bench.beat("a"));
      bench.clear();
      bench.send(bench.beat("b"));
      assertThat(bench.writes()).containsExactly("SetDrain 2", "SetDrain 3");
      assertThat(bench.lease(2).drain())
          .isEqualTo(new Drain("b", bench.now + 50_000, new Drain.Heir("b1", 5_000)));
      assertThat(bench.told.get("a1").shards())
          .extracting(Assignment.Owned::draining)
          .containsExactly(false, false, true, true);
      assertThat(bench.owners()).isEqualTo("aaaa");

      bench.now += 700;
      bench.release(2).owned("aaba").release(3).owned("aabb");
      assertThat(bench.lease(0).epoch()).isEqualTo(1);
      assertThat(bench.lease(2).epoch()).isEqualTo(2);
      assertThat(bench.told.get("b1").shards()).hasSize(2);

      MoveRecord move = bench.core.moves().recent("g", 1).get(0);
      assertThat(move.from()).isEqualTo("a");
      assertThat(move.to()).isEqualTo("b");
      assertThat(move.reason()).isEqualTo(Cause.JOIN.word());
      assertThat(move.releaseMillis()).isEqualTo(700);
    }

    @Test
    void pastTheDeadlineTheShardIsGrantedAnyway() {
      bench.send(a, b).pass(49_000, a, b).owned("aa");
      bench.pass(2_000, a, b).owned("ab").by(Cause.CAP);
    }

    @Test
    void drainIsCalledOffWhenItsTargetDies() {
      bench.send(a, bench.beat("b"));
      assertThat(bench.lease(1).drain()).isNotNull();
      bench.pass(6_000, a);
      assertThat(bench.lease(1).drain()).isNull();
      assertThat(bench.lease(1).epoch()).isEqualTo(1);
      assertThat(bench.told.get("a1").shards()).noneMatch(Assignment.Owned::draining);
    }

    @Test
    void drainIsRedirectedWithItsDeadlineWhenTheTargetChanges() {
      Heartbeat c = bench.beat("c");
      bench.send(a, c);
      Drain first = bench.lease(1).drain();
      assertThat(first.to()).isEqualTo("c");
      bench.now += 1_000;
      bench.send(bench.beat("b"));
      assertThat(bench.lease(1).drain().withoutHeir())
          .isEqualTo(new Drain("b", first.deadlineMillis()));
    }

    @Test
    void whoReleasesUnaskedIsAboutToLeaveAndGetsNothingBack() {
      bench.send(a, b).release(1).owned("ab").release(1).owned("aa");
      bench.send(Bench.leaving(b));
      bench.pass(10_000, a).owned("aa");
      assertThat(bench.lease(0).epoch()).isEqualTo(1);
    }

    @Test
    void deletedTopicMakesNobodyLookLikeLeaving() {
      bench.log.topic(2, "u", 2);
      bench.activate(List.of());
      Heartbeat a = Bench.in(bench.beat("a"), "sharded", List.of("t", "u"), null);
      bench.send(a, b).release(1).owned("ab");
      // The brokers tell of the dropped lease before the topics are read again.
      Lease gone = bench.log.leases.get("g").remove(new Shard(2, 0));
      bench.log.leases.get("g").remove(new Shard(2, 1));
      bench.log.topics.remove(1);
      bench.run(bench.core.leaseChanged(LeaseChange.forgotten(gone), bench.now));
      bench.run(bench.core.topicsChanged(bench.now));
      bench.pass(2_000, Bench.in(a, "sharded", List.of("t"), null), b).owned("ab");
      assertThat(bench.lease(0).epoch()).isEqualTo(1);
      assertThat(bench.lease(0).drain()).isNull();
    }

    @Test
    void statusTellsOfShardsWithoutOwner() {
      bench.send(bench.beat("a"));
      GroupState group = bench.core.find("g");
      assertThat(group.status(bench.core.topics())).isEqualTo(GroupStatus.OK);
      bench.send(Bench.leaving(bench.beat("a")));
      assertThat(group.status(bench.core.topics()))
          .isEqualTo(GroupStatus.UNASSIGNED_SHARD_WITHOUT_CONSUMER_IDLE_EXISTS);
    }

    @Test
    void newTopicsShardsAreGranted() {
      Heartbeat a = Bench.in(bench.beat("a"), "sharded", List.of("t", "u"), null);
      bench.log.topic(2, "u", 3);
      bench.send(a);
      assertThat(bench.told.get("a1").shards()).hasSize(5);
      assertThat(bench.log.groups.get("g").topics()).containsExactly("t", "u");
    }
  }

  @Nested
  class Membership {
    @Test
    void silentMemberLosesItsShardsAfterItsTimeoutWithoutLockTime() {
      bench.send(a, b).release(1).owned("ab");
      bench.pass(4_500, a).owned("ab").pass(1_000, a).owned("aa").by(Cause.TIMEOUT);
    }

    @Test
    void endOfTheClusterMemberIsTheEndOfTheMemberAtOnce() {
      Heartbeat a = Bench.in(bench.beat("a"), "sharded", List.of("t"), "c1");
      Heartbeat b = Bench.in(bench.beat("b"), "sharded", List.of("t"), "c2");
      bench.send(a, b).release(1);
      bench
          .run(bench.core.clusterMembers(Set.of("c1"), bench.now))
          .owned("aa")
          .by(Cause.MEMBER_LEFT);
      assertThat(bench.refusal(b)).isEqualTo(Refusal.UNAVAILABLE);
    }

    @Test
    void unseenClusterMemberEndsNobody() {
      Bench bench = Bench.withShards(1);
      Heartbeat a = Bench.in(bench.beat("a"), "sharded", List.of("t"), "never-seen");
      bench.send(a);
      bench.run(bench.core.clusterMembers(Set.of("c1"), bench.now));
      assertThat(bench.core.find("g").members().live("a")).isNotNull();
    }

    @Test
    void leavingMemberGivesUpEverythingAtOnceAndForGood() {
      bench.send(a, b).release(1);
      Assignment goodbye = (Assignment) bench.send(Bench.leaving(b));
      assertThat(goodbye.shards()).isEmpty();
      assertThat(bench.owners()).isEqualTo("aa");
      assertThat(bench.refusal(b)).isEqualTo(Refusal.INVALID);
    }

    @Test
    void laterRunTakesTheNameAndTheShardsAtTheNextEpoch() {
      Heartbeat first = bench.beat("a", "x", 100);
      Heartbeat second = bench.beat("a", "y", 200);
      bench.send(first, second).owned("aa");
      assertThat(bench.lease(0).instance()).isEqualTo("y");
      assertThat(bench.lease(0).epoch()).isEqualTo(2);
      bench.by(Cause.REPLACED);
      assertThat(bench.refusal(first)).isEqualTo(Refusal.MEMBER_REPLACED);
      bench.send(Bench.leaving(second));
      assertThat(bench.refusal(first)).isEqualTo(Refusal.MEMBER_REPLACED);
    }

    /** Its machine's clock may be behind that of the machine on which the former run is. */
    @Test
    void aRunThatJoinsTakesThePlaceWhateverItsClockSays() {
      Heartbeat former = bench.beat("a", "x", 100);
      Heartbeat later = bench.beat("a", "b", 40);
      bench.send(former);
      assertThat(bench.send(later.asJoining())).isInstanceOf(Assignment.class);
      assertThat(bench.send(later)).isInstanceOf(Assignment.class);
      assertThat(bench.lease(0).instance()).isEqualTo("b");
      assertThat(bench.refusal(former.asJoining())).isEqualTo(Refusal.MEMBER_REPLACED);
      assertThat(bench.refusal(bench.beat("a", "another", 50))).isEqualTo(Refusal.MEMBER_REPLACED);
      assertThat(bench.send(later)).isInstanceOf(Assignment.class);
    }

    @Test
    void ofRunsBornAtOnceTheLargerInstanceWins() {
      Bench bench = Bench.withShards(1);
      bench.send(bench.beat("a", "y", 100));
      assertThat(bench.refusal(bench.beat("a", "x", 100))).isEqualTo(Refusal.MEMBER_REPLACED);
      assertThat(bench.send(bench.beat("a", "z", 100))).isInstanceOf(Assignment.class);
    }

    @Test
    void revisionGrowsWithEachAssignmentAndStaysWithoutChange() {
      Assignment one = (Assignment) bench.send(bench.beat("a"));
      bench.now += 1_000;
      Assignment two = (Assignment) bench.send(bench.beat("a"));
      Assignment three = (Assignment) bench.send(bench.beat("a"));
      assertThat(two.laterThan(one.term(), one.revision())).isTrue();
      assertThat(three).isEqualTo(two);
    }

    @Test
    void malformedHeartbeatIsInvalid() {
      Bench bench = Bench.withShards(1);
      assertThat(bench.refusal(bench.beat("bad name"))).isEqualTo(Refusal.INVALID);
      assertThat(bench.refusal(Bench.in(bench.beat("a"), "sharded", List.of(), null)))
          .isEqualTo(Refusal.INVALID);
    }
  }

  @Nested
  class Agreement {
    @Test
    void memberOfAnotherModeIsRefusedWhileOthersLive() {
      bench.send(bench.beat("a"));
      DispatcherAction.Refuse refuse =
          (DispatcherAction.Refuse)
              bench.send(Bench.in(bench.beat("b"), "level", List.of("t"), null));
      assertThat(refuse.refusal()).isEqualTo(Refusal.GROUP_MISMATCH);
      assertThat(refuse.detail()).contains("sharded");
      bench.send(Bench.leaving(bench.beat("a")));
      assertThat(bench.send(Bench.in(bench.beat("b"), "level", List.of("t"), null)))
          .isInstanceOf(Assignment.class);
      assertThat(bench.log.groups.get("g").mode()).isEqualTo("level");
    }

    private static Heartbeat level(Heartbeat beat, int range, String strategy, String dedup) {
      return Heartbeats.with(beat, "policy", new GroupPolicy("level", range, strategy, dedup));
    }

    private static void mismatch(Object answer, String detail) {
      DispatcherAction.Refuse refuse = (DispatcherAction.Refuse) answer;
      assertThat(refuse.refusal()).isEqualTo(Refusal.GROUP_MISMATCH);
      assertThat(refuse.detail()).startsWith(detail + ": give all its members ");
    }

    @Test
    void membersAgreeOnTheWholePolicy() {
      bench.send(level(bench.beat("a"), 10, "pull", "off"));
      mismatch(bench.send(level(b, 20, "pull", "off")), "group g runs with range 10, not 20");
      mismatch(
          bench.send(level(b, 10, "push", "off")), "group g runs with strategy pull, not push");
      mismatch(bench.send(level(b, 10, "pull", "key")), "group g runs with dedup off, not key");
      mismatch(bench.send(b), "group g runs in mode level, not sharded");
      assertThat(bench.send(level(b, 10, "pull", "off"))).isInstanceOf(Assignment.class);
      bench.send(Bench.leaving(bench.beat("b")));
      assertThat(bench.send(level(bench.beat("a"), 20, "push", "key")))
          .as("who is alone may change it")
          .isInstanceOf(Assignment.class);
      assertThat(bench.log.groups.get("g").policy())
          .isEqualTo(new GroupPolicy("level", 20, "push", "key"));
    }

    @Test
    void aReplacedRunHasNoSay() {
      Heartbeat former = level(bench.beat("a", "x", 100), 10, "pull", "off");
      bench.send(former);
      bench.send(level(bench.beat("a", "y", 200), 20, "pull", "off"));
      bench.clear();
      assertThat(bench.refusal(former)).isEqualTo(Refusal.MEMBER_REPLACED);
      assertThat(bench.metaWrites()).isEmpty();
      assertThat(bench.log.groups.get("g").policy().range()).isEqualTo(20);
    }

    @Test
    void policiesAndStallTimesThatMakeNoSenseAreInvalid() {
      Bench bench = Bench.withShards(1);
      Heartbeat a = bench.beat("a");
      assertThat(bench.refusal(level(a, 0, "pull", "off"))).isEqualTo(Refusal.INVALID);
      assertThat(bench.refusal(level(a, 5, "pull", "odd"))).isEqualTo(Refusal.INVALID);
      Heartbeat.Wishes stall = new Heartbeat.Wishes(null, null, 0, 5_000L, null, null, null);
      assertThat(bench.refusal(a.withWishes(stall))).isEqualTo(Refusal.INVALID);
      Heartbeat good = level(a, 5, "pull", "off");
      assertThat(
              bench.refusal(
                  good.withWishes(new Heartbeat.Wishes(null, null, 0, 999L, null, null, null))))
          .isEqualTo(Refusal.INVALID);
      assertThat(
              bench.refusal(
                  good.withWishes(
                      new Heartbeat.Wishes(null, null, 0, 3_600_001L, null, null, null))))
          .isEqualTo(Refusal.INVALID);
      assertThat(bench.send(good.withWishes(stall))).isInstanceOf(Assignment.class);
      assertThat(bench.refusal(a.withWishes(retries(1L)))).isEqualTo(Refusal.INVALID);
      assertThat(bench.refusal(good.withWishes(retries(-1L)))).isEqualTo(Refusal.INVALID);
      assertThat(bench.refusal(good.withWishes(retries(7L * 86_400_000 + 1))))
          .isEqualTo(Refusal.INVALID);
      List<Long> many = Collections.nCopies(Limits.RETRY_DELAYS_MAX + 1, 1L);
      assertThat(bench.refusal(good.withWishes(retries(many.toArray(Long[]::new)))))
          .isEqualTo(Refusal.INVALID);
      assertThat(bench.send(good.withWishes(retries(0L, 7L * 86_400_000))))
          .isInstanceOf(Assignment.class);
      for (int odd : List.of(-1, 1, 2, 1_001)) {
        assertThat(bench.refusal(good.withWishes(crashes(odd)))).isEqualTo(Refusal.INVALID);
      }
      for (int right : List.of(0, 3, 1_000)) {
        assertThat(bench.refusal(a.withWishes(crashes(right)))).isEqualTo(Refusal.INVALID);
        assertThat(bench.send(good.withWishes(crashes(right)))).isInstanceOf(Assignment.class);
      }
    }

    private static Heartbeat.Wishes crashes(int max) {
      return new Heartbeat.Wishes(null, null, 0, null, null, null, null, 0, null, max);
    }

    private static Heartbeat.Wishes retries(Long... delays) {
      return new Heartbeat.Wishes(null, null, 0, null, null, List.of(delays), null);
    }

    @Test
    void grantsNameTheTermOfTheMetaLogSoThatAGroupMayLeaveModeLevel() {
      Bench bench = Bench.withShards(1);
      bench.log.apply(
          new MetaCommand.DeclareGroup(
              "g", GroupPolicy.SHARDED, List.of("t"), StartAt.EARLIEST, false, null, List.of()),
          bench.now);
      bench.log.groupLeases.put("g", new GroupLease("g", 7, null, null));
      bench.log.apply(Commands.grant("g", new Shard(1, 0), "z", "z1", 0, StartAt.EARLIEST, 7));
      bench.activate(List.of());
      Heartbeat a = bench.beat("a");
      bench.send(a);
      bench.pass(8_000, a).owned("a");
      assertThat(bench.log.lease("g", new Shard(1, 0)).groupTerm()).isEqualTo(7);
    }

    @Test
    void unknownModeIsInvalid() {
      Bench bench = Bench.withShards(1);
      assertThat(bench.refusal(Bench.in(bench.beat("a"), "odd", List.of("t"), null)))
          .isEqualTo(Refusal.INVALID);
    }

    @Test
    void unknownTopicIsRefusedAfterOneFreshLook() {
      Bench bench = Bench.withShards(1);
      bench.clear();
      DispatcherAction.Refuse refuse =
          (DispatcherAction.Refuse)
              bench.send(Bench.in(bench.beat("a"), "sharded", List.of("nope"), null));
      assertThat(refuse.refusal()).isEqualTo(Refusal.UNKNOWN_TOPIC);
      assertThat(refuse.detail()).contains("nope");
      assertThat(bench.actions).filteredOn(a -> a instanceof DispatcherAction.ReadView).hasSize(1);
    }

    @Test
    void groupIsSeenAtMostOnceAnHour() {
      Bench bench = Bench.withShards(1);
      Heartbeat a = bench.beat("a");
      bench.send(a);
      bench.clear();
      bench.pass(3_590_000, a);
      assertThat(bench.metaWrites()).isEmpty();
      bench.pass(20_000, a);
      assertThat(bench.metaWrites())
          .containsExactly(new MetaCommand.SeeGroup("g", List.of("t"), List.of()));
    }

    @Test
    void groupUnseenForAWeekIsForgottenWithItsLeases() {
      bench.send(bench.beat("a"), Bench.leaving(bench.beat("a"))).pass(10_000);
      bench.log.activeMillis += 7L * 24 * 3_600_000 - 90_000;
      bench.pass(70_000);
      assertThat(bench.log.groups).containsKey("g");
      bench.pass(60_000);
      assertThat(bench.log.groups).isEmpty();
      assertThat(bench.log.leases).isEmpty();
      assertThat(bench.core.find("g")).isNull();
      bench.after(bench.beat("b")).owned("bb");
    }

    @Test
    void heartbeatIsAnsweredUnavailableWhenTheGroupCannotBeRecorded() {
      Bench bench = Bench.withShards(1);
      bench.refuseNext = Refusal.INDETERMINATE;
      assertThat(bench.refusal(bench.beat("a"))).isEqualTo(Refusal.UNAVAILABLE);
      assertThat(bench.send(bench.beat("a"))).isInstanceOf(Assignment.class);
    }
  }

  @Nested
  class TakingOver {
    private Bench evenPair() {
      Bench bench = Bench.withShards(4);
      bench.send(bench.beat("a"), bench.beat("b")).release(2, 3).owned("aabb");
      return bench;
    }

    @Test
    void ownersReturnWithinTheirTimeoutAndKeepShardsAndEpochs() {
      Bench bench = evenPair();
      bench.now += 60_000;
      bench.activate(List.of());
      bench.clear();
      bench.send(bench.beat("b"));
      bench.pass(4_000, bench.beat("b"));
      bench.send(bench.beat("a"));
      bench.pass(10_000, bench.beat("a"), bench.beat("b"));
      assertThat(bench.writes()).isEmpty();
      assertThat(bench.owners()).isEqualTo("aabb");
      assertThat(bench.told.get("b1").shards()).hasSize(2);
    }

    @Test
    void ownerThatStaysAwayLosesItsShardsAfterOneTimeout() {
      Bench bench = evenPair();
      bench.activate(List.of());
      bench.pass(4_750, bench.beat("b")).owned("aabb");
      bench.pass(500, bench.beat("b")).owned("bbbb");
    }

    @Test
    void freeShardsAreGrantedAtOnceByTheEvenPlan() {
      Bench bench = evenPair();
      // The group reads a shard more, which nobody owns; a has not been heard yet.
      bench.log.topics.clear();
      bench.log.topic(1, "t", 5);
      bench.activate(List.of());
      bench.after(bench.beat("b")).owned("aabbb");
      bench.pass(2_000, bench.beat("a"), bench.beat("b"));
      assertThat(bench.lease(2).drain().to()).isEqualTo("a");
    }

    @Test
    void registryTellsThatAnEarlierRunIsReplaced() {
      Bench bench = Bench.withShards(1);
      bench.send(bench.beat("a", "x", 200));
      bench.activate(
          List.of(Bench.ghost("g", "a", "x", 200L, List.of("t"), null, "host", bench.now + 5_000)));
      assertThat(bench.refusal(bench.beat("a", "w", 100))).isEqualTo(Refusal.MEMBER_REPLACED);
      bench.send(bench.beat("a", "y", 300));
      assertThat(bench.lease(0).instance()).isEqualTo("y");
    }

    @Test
    void ghostWhoseClusterMemberLeavesIsGivenUpAtOnce() {
      Bench bench = evenPair();
      bench.activate(
          List.of(
              Bench.ghost("g", "a", "a1", 100L, List.of("t"), "c1", "host", bench.now + 5_000)));
      bench.send(bench.beat("b"));
      bench.run(bench.core.clusterMembers(Set.of("c2"), bench.now)).owned("bbbb");
    }

    @Test
    void drainGoesOnUnderTheNextDispatcher() {
      bench.send(bench.beat("a"), bench.beat("b"));
      Drain drain = bench.lease(1).drain();
      bench.activate(List.of());
      bench.send(bench.beat("a"), bench.beat("b"));
      assertThat(bench.lease(1).drain()).isEqualTo(drain);
      bench.release(1).owned("ab");
    }
  }

  @Nested
  class Log {
    @Test
    void fencedGrantReadsAgainAndBelievesTheLog() {
      Bench bench = Bench.withShards(1);
      bench.send(bench.beat("a"));
      // Another dispatcher gave the shard away and back, and no hint came.
      Shard shard = new Shard(1, 0);
      bench.log.apply(Commands.grant("g", shard, "z", "z1", 1, null));
      bench.send(bench.beat("b"), Bench.leaving(bench.beat("a")));
      bench.pass(1_000, bench.beat("b"));
      assertThat(bench.lease(0).owner()).isEqualTo("z");
      bench.pass(6_000, bench.beat("b")).owned("b");
      assertThat(bench.lease(0).epoch()).isEqualTo(3);
    }

    @Test
    void logThatForgotALeaseIsBelievedAfterAFencedGrant() {
      Bench bench = Bench.withShards(1);
      bench.send(bench.beat("a"));
      bench.log.leases.clear();
      bench.send(Bench.leaving(bench.beat("a")), bench.beat("b"));
      bench.pass(1_000, bench.beat("b")).owned("b");
      assertThat(bench.lease(0).epoch()).isEqualTo(1);
    }

    @Test
    void lowerEpochOfTheLogIsBelievedAfterAFencedGrant() {
      Bench bench = Bench.withShards(1);
      bench.send(bench.beat("a", "a1", 100));
      bench.send(bench.beat("a", "a2", 200));
      assertThat(bench.lease(0).epoch()).isEqualTo(2);
      // The leases were forgotten, and another dispatcher granted the shard afresh.
      bench.log.leases.clear();
      bench.log.apply(Commands.grant("g", new Shard(1, 0), "z", "z1", 0, null));
      Heartbeat b = bench.beat("b");
      bench.send(b);
      bench.send(Bench.leaving(bench.beat("a", "a2", 200)));
      bench.pass(12_000, b).owned("b");
      assertThat(bench.lease(0).epoch()).isEqualTo(2);
    }

    @Test
    void unavailableLogIsAskedAgainAfterAPause() {
      Bench bench = Bench.withShards(1);
      bench.send(bench.beat("a"), bench.beat("b"));
      bench.refuseNext = Refusal.UNAVAILABLE;
      bench.send(Bench.leaving(bench.beat("a")));
      assertThat(bench.refuseNext).isNull();
      assertThat(bench.owners()).isEqualTo("a");
      bench.pass(1_000, bench.beat("b")).owned("b");
    }

    @Test
    void atMostOneWriteAShardAndALimitedNumberInAll() {
      ModelLog log = new ModelLog().topic(1, "t", DispatcherSettings.WRITES_IN_FLIGHT_MAX + 1);
      DispatcherCore core = Bench.core(TestSettings.atOnce(), 1, Set.of());
      core.recover(log.topics, List.of(), log.statuses(null), List.of(), 1_000);
      Bench beats = new Bench(log);
      List<DispatcherAction> actions = core.heartbeat(1, beats.beat("a"), 1_000);
      DispatcherAction.WriteMeta declare = (DispatcherAction.WriteMeta) actions.get(0);
      Reply declared = log.apply(declare.command(), 1_000);
      DispatcherAction.PlanShards plan =
          (DispatcherAction.PlanShards)
              core.answered(declare, declared, 1_000).stream()
                  .filter(action -> action instanceof DispatcherAction.PlanShards)
                  .findFirst()
                  .orElseThrow();
      long writes =
          core.answered(plan, plan.plan(), 1_000).stream()
              .filter(action -> action instanceof DispatcherAction.Write)
              .count();
      assertThat(writes).isEqualTo(DispatcherSettings.WRITES_IN_FLIGHT_MAX);
      assertThat(core.tick(10_000)).noneMatch(action -> action instanceof DispatcherAction.Write);
    }
  }
}
