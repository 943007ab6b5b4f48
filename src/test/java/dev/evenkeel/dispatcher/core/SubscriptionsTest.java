package dev.evenkeel.dispatcher.core;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.dispatcher.ModelLog;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupPattern;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A group has leases on all shards of its topics before a member of it is answered. */
class SubscriptionsTest {
  private static final Shard SHARD = new Shard(1, 0);

  private final Bench bench = new Bench(new ModelLog().topic(1, "t", 2));

  private void activate() {
    bench.level = FeatureLevel.SUBSCRIPTIONS;
    bench.activate(List.of());
  }

  private static Heartbeat latest(Heartbeat beat) {
    return Heartbeats.with(beat, "start", StartAt.LATEST);
  }

  private static Heartbeat reading(Heartbeat beat, List<String> topics) {
    return Heartbeats.with(beat, "topics", topics);
  }

  /** The topic gets one more layout, with that many shards. */
  private void reshard(int shards) {
    TopicInfo topic = bench.log.topics.get(0);
    bench.log.topics.set(0, topic.opening(shards, List.of()).opened(bench.now));
  }

  private Lease lease(int shard) {
    return bench.log.lease(Bench.GROUP, new Shard(1, shard));
  }

  @Test
  void aMemberIsAnsweredOnceTheLeasesAreThere() {
    activate();
    bench.log.ends.put(SHARD, 7L);
    bench.lateShard = 0;
    Heartbeat beat = latest(bench.beat("a"));
    assertThat(bench.send(beat)).as("one lease is missing").isNull();
    assertThat(lease(0).committed()).isEqualTo(7);
    assertThat(lease(0).owned()).isFalse();
    bench.answerLate();
    assertThat(bench.send(beat)).isInstanceOf(Assignment.class);
    assertThat(bench.owners()).isEqualTo("aa");
    assertThat(lease(0).committed()).as("where it subscribed").isEqualTo(7);
  }

  @Test
  void aLogGroupWithoutALeaderHoldsUpWhoSubscribesButNoMember() {
    activate();
    bench.log.topic(2, "u", 1);
    bench.send(bench.beat("a"));
    bench.pass(2_000, bench.beat("a"));
    bench.lateShard = 0;
    Heartbeat both = reading(bench.beat("a"), List.of("t", "u"));
    Heartbeat joins = reading(bench.beat("b"), List.of("t", "u"));
    assertThat(bench.send(both)).isNotNull();
    assertThat(bench.send(joins)).isNull();
    Object answer = bench.send(both);
    assertThat(((Assignment) answer).opening()).as("it goes on with what it has").isTrue();
    assertThat(((Assignment) answer).shards()).hasSize(2);
    bench.answerLate();
    assertThat(((Assignment) bench.send(both)).opening()).isFalse();
    assertThat(bench.send(joins)).isInstanceOf(Assignment.class);
  }

  /** In a rolling deployment every run is a new one, and the former ones stop. */
  @Test
  void aRunThatJoinsDoesNotWaitForALogGroupWithoutALeader() {
    activate();
    bench.log.topic(2, "u", 1);
    bench.leaderless = 0;
    Heartbeat beat = reading(bench.beat("a"), List.of("t", "u"));
    bench.pass(Subscriptions.HOLD_MILLIS_MAX + 2_000, beat);
    assertThat(((Assignment) bench.send(beat)).opening()).isTrue();
    assertThat(lease(1).owner()).isEqualTo("a");
    Heartbeat next = reading(bench.beat("b"), List.of("t", "u"));
    assertThat(bench.send(next)).as("nor does the next one").isInstanceOf(Assignment.class);
    bench.leaderless = -1;
    bench.pass(2_000, beat, next);
    assertThat(((Assignment) bench.send(beat)).opening()).isFalse();
  }

  /** What runs goes on; who begins hears that he may have mistyped a name. */
  @Test
  void aRunKeepsItsOtherShardsWhenSomebodyDeletesATopic() {
    activate();
    bench.log.topic(2, "u", 1);
    Heartbeat beat = reading(bench.beat("a"), List.of("t", "u"));
    bench.pass(2_000, beat);
    bench.log.topics.remove(1);
    bench.run(bench.core.topicsChanged(bench.now));
    assertThat(((Assignment) bench.send(beat)).shards()).hasSize(2);
    assertThat(bench.core.find(Bench.GROUP).topicsLeftOut()).isEqualTo(1);
    Heartbeat mistyped = reading(bench.beat("b"), List.of("t", "u")).asJoining();
    assertThat(bench.refusal(mistyped)).isEqualTo(Refusal.UNKNOWN_TOPIC);
    bench.activate(
        List.of(
            Bench.ghost(Bench.GROUP, "a", "a1", 100L, List.of("t", "u"), null, null, 9_999_999)));
    assertThat(((Assignment) bench.send(beat)).shards()).as("another dispatcher").hasSize(2);
    bench.log.make(3, "u", 1);
    bench.run(bench.core.topicsChanged(bench.now));
    bench.pass(2_000, beat);
    assertThat(((Assignment) bench.send(beat)).shards()).hasSize(3);
  }

  /** It would stop for good: it names the topic as long as it runs. */
  @Test
  void aRunThatWasGivenUpComesBackAlthoughOneOfItsTopicsWasDeleted() {
    activate();
    bench.log.topic(2, "u", 1);
    Heartbeat beat = reading(bench.beat("a"), List.of("t", "u"));
    bench.pass(2_000, beat);
    bench.log.topics.remove(1);
    bench.run(bench.core.topicsChanged(bench.now));
    bench.pass(20_000);
    assertThat(bench.core.find(Bench.GROUP).members().isEmpty()).isTrue();
    bench.pass(2_000, beat);
    assertThat(((Assignment) bench.send(beat)).shards()).hasSize(2);
  }

  /** Its heartbeats were refused as long as it had no other. */
  @Test
  void aRunWhoseOnlyTopicWasDeletedReadsAnotherThatItSubscribesTo() {
    activate();
    bench.log.topic(2, "u", 1);
    bench.pass(2_000, bench.beat("a"));
    bench.log.topics.remove(0);
    bench.run(bench.core.topicsChanged(bench.now));
    assertThat(bench.refusal(bench.beat("a"))).isEqualTo(Refusal.UNKNOWN_TOPIC);
    bench.pass(20_000);
    Heartbeat beat = reading(bench.beat("a"), List.of("t", "u"));
    bench.pass(2_000, beat);
    assertThat(((Assignment) bench.send(beat)).shards()).hasSize(1);
  }

  /** The topics are read after the subscription is recorded: there may be others since. */
  @Test
  void leasesAreOpenedOnShardsThatWereMadeSinceTheTopicsWereRead() {
    activate();
    reshard(3);
    bench.log.ends.put(new Shard(1, 2), 9L);
    Heartbeat beat = latest(bench.beat("a"));
    bench.send(beat, beat);
    times(5, shard -> assertThat(lease(shard)).as("shard " + shard).isNotNull());
    assertThat(lease(2).committed()).as("not what was sent before").isEqualTo(9);
    assertThat(lease(0).finished()).as("what is before the end of a sealed shard").isTrue();
  }

  /** Else the next dispatcher would take the former layout for one that the group has read. */
  @Test
  void leasesOnAFormerLayoutComeOnlyAfterThoseOnLaterOnes() {
    activate();
    reshard(3);
    bench.log.ends.put(new Shard(1, 2), 9L);
    bench.leaderless = 2;
    bench.send(latest(bench.beat("a")));
    bench.pass(1_000);
    bench.leaderless = -1;
    activate();
    assertThat(bench.send(latest(bench.beat("a")))).isInstanceOf(Assignment.class);
    assertThat(lease(2).committed()).as("not what was sent before").isEqualTo(9);
    assertThat(lease(0)).isNotNull();
  }

  @Test
  void nothingIsOpenedByAReadThatBeganBeforeTheSubscription() {
    activate();
    bench.holdViews = true;
    bench.run(bench.core.topicsChanged(bench.now));
    Heartbeat beat = latest(bench.beat("a"));
    assertThat(bench.send(beat)).isNull();
    bench.answerNextView();
    assertThat(bench.writes()).isEmpty();
    reshard(3);
    bench.answerNextView();
    assertThat(lease(4)).isNotNull();
  }

  @Test
  void shardsThatAreOlderThanItsLeasesBeginWithTheirFirstMessage() {
    // As a cluster of a former version left it.
    bench.activate(List.of());
    bench.send(latest(bench.beat("a")));
    assertThat(lease(0)).isNotNull();
    reshard(3);
    bench.log.ends.put(new Shard(1, 2), 9L);
    activate();
    assertThat(lease(2).committed()).isZero();
  }

  /** Somebody has sent messages before the member, or its dispatcher, heard of the topic. */
  @Test
  void aTopicThatComesAndMatchesAPatternIsReadFromItsBeginning() {
    activate();
    Heartbeat beat = latest(reading(bench.beat("a"), List.of("t*")));
    bench.log.ends.put(SHARD, 7L);
    assertThat(bench.send(beat)).isInstanceOf(Assignment.class);
    assertThat(lease(0).committed()).isEqualTo(7);
    bench.log.make(2, "tx", 1);
    bench.log.ends.put(new Shard(2, 0), 5L);
    bench.run(bench.core.topicsChanged(bench.now));
    assertThat(bench.log.lease(Bench.GROUP, new Shard(2, 0)).committed()).isZero();
    assertThat(((Assignment) bench.send(beat)).shards()).hasSize(3);
  }

  /** Its record names the topic before the dispatcher has read that: the lease is not left over. */
  @Test
  void aGroupWithAPatternAndNoMembersKeepsItsLeasesOnATopicThatComes() {
    activate();
    Heartbeat beat = latest(reading(bench.beat("a"), List.of("t*")));
    bench.send(beat, Bench.leaving(beat));
    Shard shard = new Shard(2, 0);
    bench.log.make(2, "tx", 1);
    bench.log.ends.put(shard, 5L);
    bench.run(bench.core.topicsChanged(bench.now));
    bench.pass(120_000);
    assertThat(bench.log.lease(Bench.GROUP, shard).committed()).isZero();
    assertThat(bench.core.find(Bench.GROUP).info().reads("tx")).isTrue();

    bench.log.make(3, "ty", 1);
    bench.log.ends.put(new Shard(3, 0), 5L);
    activate();
    Heartbeat again = latest(reading(bench.beat("b"), List.of("t*")));
    bench.send(again);
    bench.pass(20_000, again);
    assertThat(bench.log.lease(Bench.GROUP, new Shard(3, 0)).owner()).isEqualTo("b");
    assertThat(bench.log.lease(Bench.GROUP, new Shard(3, 0)).committed()).isZero();
  }

  /** Else a member that changed its patterns would leave leases on topics that nobody reads. */
  @Test
  void aPatternToWhichNobodySubscribesIsForgottenInTime() {
    activate();
    Heartbeat both = reading(bench.beat("a"), List.of("t*", "u*"));
    bench.send(both);
    assertThat(bench.core.find(Bench.GROUP).info().patterns()).hasSize(2);
    Heartbeat one = reading(bench.beat("a"), List.of("t*"));
    bench.send(one);
    bench.pass(60_000, one);
    bench.log.activeMillis += bench.settings.groupForgetMillis();
    bench.pass(120_000, one);
    assertThat(bench.core.find(Bench.GROUP).info().patterns().keySet())
        .containsExactly(new GroupPattern("t*", null));
  }

  /** The record keeps for a while what a member was allowed to read before. */
  @Test
  void aMemberThatLosesAPermissionReadsNoNewTopicOfItsPatternAndTheOldListIsForgotten() {
    activate();
    Heartbeat all = reading(bench.beat("a"), List.of("t*"));
    Heartbeat before = Heartbeats.with(all, "mayConsume", List.of("t*"));
    Heartbeat after = Heartbeats.with(all, "mayConsume", List.of("t", "tz*"));
    bench.send(before);
    bench.pass(2_000, before);
    assertThat(((Assignment) bench.send(before)).shards()).hasSize(2);
    bench.pass(2_000, after);
    bench.log.make(2, "tx", 1);
    bench.run(bench.core.topicsChanged(bench.now));
    bench.pass(20_000, after);
    assertThat(bench.core.find(Bench.GROUP).info().topics()).containsExactly("t", "tx");
    assertThat(((Assignment) bench.send(after)).shards()).as("not tx").hasSize(2);

    bench.log.activeMillis += bench.settings.groupForgetMillis();
    bench.pass(120_000, after);
    GroupInfo info = bench.core.find(Bench.GROUP).info();
    assertThat(info.patterns().keySet())
        .containsExactly(new GroupPattern("t*", List.of("t", "tz*")));
    assertThat(info.topics()).as("nobody reads the others").containsExactly("t");
    bench.log.make(4, "tw", 1);
    bench.log.make(5, "tz", 1);
    bench.run(bench.core.topicsChanged(bench.now));
    bench.pass(2_000, after);
    assertThat(bench.core.find(Bench.GROUP).info().topics()).containsExactly("t", "tz");
    assertThat(((Assignment) bench.send(after)).shards()).hasSize(3);
  }

  @Test
  void aMissingLeaseIsOpenedWithoutAMember() {
    activate();
    bench.send(bench.beat("a"), bench.beat("a"), Bench.leaving(bench.beat("a")));
    bench.log.topic(2, "u", 1);
    bench.log.apply(
        dev.evenkeel.protocol.Commands.declareGroup(
            Bench.GROUP, GroupPolicy.SHARDED, List.of("u"), StartAt.EARLIEST, false),
        bench.now);
    bench.pass(10_000);
    assertThat(bench.log.lease(Bench.GROUP, new Shard(2, 0))).isNotNull();
  }

  @Test
  void noLeasesInModeBroadcastAndInFormerClusters() {
    activate();
    Heartbeat copies = Bench.in(bench.beat("a"), "broadcast", List.of("t"), null);
    assertThat(bench.send(copies)).isInstanceOf(Assignment.class);
    bench.pass(10_000, copies);
    assertThat(bench.writes()).isEmpty();

    Bench former = Bench.withShards(2);
    assertThat(former.send(former.beat("a"))).isInstanceOf(Assignment.class);
    former.pass(1_000, former.beat("a"));
    assertThat(former.actions)
        .filteredOn(DispatcherAction.Write.class::isInstance)
        .noneMatch(
            each -> ((DispatcherAction.Write) each).command() instanceof DataCommand.OpenLease);
  }

  @Test
  void aResetWaitsForTheLease() {
    activate();
    bench.send(bench.beat("a"), bench.beat("a"), Bench.leaving(bench.beat("a")));
    long request = bench.reset(false, 0, 0, 1);
    assertThat(bench.answer(request)).isInstanceOf(DispatcherAction.ResetDone.class);
    bench.log.topic(2, "u", 1);
    bench.run(bench.core.topicsChanged(bench.now));
    bench.run(
        bench.core.reset(
            99, Bench.GROUP, List.of(new Shard(2, 0)), StartAt.offset(0), false, bench.now));
    assertThat(bench.answer(99))
        .as("it does not read that topic")
        .isInstanceOfSatisfying(
            DispatcherAction.Refuse.class,
            no -> assertThat(no.refusal()).isEqualTo(Refusal.UNKNOWN_SHARD));
  }
}
