package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.assign.GroupStatus;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.dispatcher.ModelLog;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How a group that lives forgets a topic that none of its members reads any more. */
class TopicForgettingTest {
  private static final long HOUR = 3_600_000;
  private static final Shard U = new Shard(2, 0);

  private final Bench bench = new Bench(new ModelLog().topic(1, "t", 2).topic(2, "u", 1));
  private final Heartbeat both = reading("a", "t", "u");
  private final Heartbeat one = reading("a", "t");

  private Heartbeat reading(String member, String... topics) {
    return Bench.in(bench.beat(member), "sharded", List.of(topics), null);
  }

  /** Member a read t and u, and now reads t alone. */
  @BeforeEach
  void topicThatNobodyReadsAnyMore() {
    bench.settings = TestSettings.withGroupForget(TestSettings.atOnce(), HOUR);
    bench.activate(List.of());
    bench.send(both);
    bench.pass(5_000, both);
    assertThat(bench.log.lease("g", U).owner()).isEqualTo("a");
    bench.send(one);
    Lease lease = bench.log.lease("g", U);
    bench.log.apply(new DataCommand.Release("g", U, lease.epoch(), 0, -1, null));
    bench.pass(HOUR / 2, one);
    bench.clear();
  }

  private GroupStatus status() {
    return bench.core.find("g").status(bench.core.topics());
  }

  @Test
  void aTopicIsForgottenAfterTheForgetTimeAndTheOthersStay() {
    assertThat(bench.log.groups.get("g").topics()).containsExactly("t", "u");
    bench.pass(HOUR, one);
    assertThat(bench.log.groups.get("g").topics()).containsExactly("t");
    assertThat(bench.log.lease("g", U)).isNull();
    assertThat(bench.owners()).isEqualTo("aa");
    assertThat(status()).isEqualTo(GroupStatus.OK);
  }

  @Test
  void aTopicThatAnotherMemberReadsIsNotForgotten() {
    Heartbeat other = reading("b", "u");
    bench.send(other);
    bench.pass(4 * HOUR, one, other);
    assertThat(bench.log.groups.get("g").topics()).containsExactly("t", "u");
    assertThat(bench.log.lease("g", U).owner()).isEqualTo("b");
  }

  @Test
  void whoSubscribesAgainWhileItIsForgottenFindsNothingOfIt() {
    long epoch = bench.log.lease("g", U).epoch();
    bench.loseForgets = true;
    bench.pass(HOUR, one);
    assertThat(bench.log.groups.get("g").topics()).containsExactly("t");
    assertThat(bench.log.lease("g", U)).isNotNull();
    assertThat(bench.send(reading("b", "u"))).as("it waits").isNull();
    bench.loseForgets = false;
    bench.pass(10_000, one, reading("b", "u"));
    assertThat(bench.log.lease("g", U).owner()).isEqualTo("b");
    assertThat(bench.log.lease("g", U).epoch()).isGreaterThan(epoch);
    assertThat(bench.owners()).isEqualTo("aa");
    for (DataCommand.ForgetLeases late : drops()) {
      assertThat(bench.log.apply(late))
          .as("nothing was dropped")
          .isEqualTo(new Reply.OfNumber(bench.log.lease("g", U).epoch()));
    }
  }

  @Test
  void theNextDispatcherDropsTheLeasesOnATopicThatTheRecordDoesNotName() {
    bench.loseForgets = true;
    bench.pass(HOUR, one);
    bench.activate(List.of());
    bench.loseForgets = false;
    bench.pass(20_000, one);
    assertThat(bench.log.lease("g", U)).isNull();
    assertThat(bench.owners()).isEqualTo("aa");
  }

  @Test
  void whoSubscribesAtTheNextDispatcherWaitsForThatToo() {
    long epoch = bench.log.lease("g", U).epoch();
    bench.loseForgets = true;
    bench.pass(HOUR, one);
    bench.activate(List.of());
    bench.loseForgets = false;
    bench.send(one, both).pass(10_000, both);
    assertThat(bench.log.lease("g", U).epoch()).isGreaterThan(epoch);
    assertThat(drops()).isNotEmpty();
  }

  /** A dispatcher that was replaced reads leases of now, but the meta log of before. */
  @Test
  void aDispatcherThatCannotDropTheSubscriptionTouchesNoLease() {
    bench.refuseNext = Refusal.NOT_LEADER;
    assertThat(refused(bench.forget("u", null)).refusal()).isEqualTo(Refusal.NOT_LEADER);
    assertThat(askedToForget()).isTrue();
    assertThat(drops()).isEmpty();
    assertThat(bench.log.lease("g", U)).isNotNull();
  }

  @Test
  void aMemberThatIsNotHeardYetKeepsItsTopic() {
    bench.pass(HOUR / 2 - 10_000, one);
    bench.activate(
        List.of(Bench.ghost("g", "b", "b1", 5L, List.of("u"), null, "host", bench.now + 60_000)));
    bench.pass(40_000, one);
    assertThat(bench.log.groups.get("g").topics()).containsExactly("t", "u");
    bench.pass(60_000, one);
    assertThat(bench.log.groups.get("g").topics()).containsExactly("t");
  }

  @Test
  void deletingATopicForgetsItAtOnce() {
    long request = bench.forget("u", null);
    assertThat(bench.answer(request)).isInstanceOf(DispatcherAction.Forgotten.class);
    assertThat(bench.log.groups.get("g").topics()).containsExactly("t");
    assertThat(bench.log.lease("g", U)).isNull();
    assertThat(bench.owners()).isEqualTo("aa");
    assertThat(refused(bench.forget("u", null)).refusal()).isEqualTo(Refusal.UNKNOWN_TOPIC);
  }

  @Test
  void deletingWhatMembersReadIsRefusedAndNamesThem() {
    bench.send(reading("b", "u"));
    DispatcherAction.Refuse topic = refused(bench.forget("u", null));
    assertThat(topic.refusal()).isEqualTo(Refusal.GROUP_ACTIVE);
    assertThat(topic.detail())
        .isEqualTo(
            "topic 'u' is read in group 'g' by member 'b' on host:"
                + " stop it or unsubscribe, and try again");
    assertThat(refused(bench.forget(null, null)).detail())
        .isEqualTo(
            "group 'g' is in use by members 'a' on host, 'b' on host: stop them, and try again");
    assertThat(bench.log.groups.get("g").topics()).containsExactly("t", "u");
    assertThat(refused(bench.forget("v", null)).detail())
        .isEqualTo("group 'g' does not read topic 'v': it reads t, u");
  }

  @Test
  void deletingAGroupWithoutMembersForgetsItAtOnce() {
    bench.send(Bench.leaving(one));
    long request = bench.forget(null, null);
    assertThat(bench.answer(request)).isInstanceOf(DispatcherAction.Forgotten.class);
    assertThat(bench.log.groups).isEmpty();
    assertThat(bench.log.leases).isEmpty();
    assertThat(refused(bench.forget(null, null)).refusal()).isEqualTo(Refusal.UNKNOWN_GROUP);
    bench.send(reading("b", "t"));
    bench.pass(1_000, reading("b", "t")).owned("bb");
  }

  /** After a start of all nodes no map knows the members, and dispatchers own what is level. */
  @Test
  void aDispatcherThatHasJustBegunHearsMembersBeforeItDeletesTheirGroup() {
    bench.send(Bench.leaving(one));
    bench.activate(List.of());
    long request = bench.forget(null, null);
    // Longer than owners of leases count as alive.
    bench.pass(8_000);
    assertThat(bench.answer(request)).isNull();
    bench.send(one);
    assertThat(((DispatcherAction.Refuse) bench.answer(request)).refusal())
        .isEqualTo(Refusal.GROUP_ACTIVE);
    assertThat(bench.log.groups).containsKey("g");
  }

  @Test
  void anOwnerThatUnsubscribesIsWaitedFor() {
    bench.send(both);
    bench.pass(1_000, both);
    assertThat(bench.log.lease("g", U).owner()).isEqualTo("a");
    long request = bench.forget("u", "a");
    assertThat(bench.answer(request)).as("its heartbeat comes later").isNull();
    bench.send(one);
    assertThat(bench.answer(request)).as("it has the shard still").isNull();
    Lease lease = bench.log.lease("g", U);
    bench.log.apply(new DataCommand.Release("g", U, lease.epoch(), 0, -1, null));
    bench.pass(10_000, one);
    assertThat(bench.answer(request)).isInstanceOf(DispatcherAction.Forgotten.class);
    assertThat(bench.log.lease("g", U)).isNull();
  }

  @Test
  void anOwnerThatSubscribesAgainAndEndsKeepsTheTopic() {
    bench.send(both);
    bench.pass(1_000, both);
    bench.send(one);
    long request = bench.forget("u", "a");
    assertThat(bench.answer(request)).as("it has the shard still").isNull();
    bench.send(both);
    bench.pass(1_000, both);
    assertThat(bench.answer(request)).as("it may unsubscribe yet").isNull();
    bench.send(Bench.leaving(both));
    assertThat(refused(request).refusal()).isEqualTo(Refusal.GROUP_ACTIVE);
    assertThat(bench.log.lease("g", U)).isNotNull();
  }

  @Test
  void anOwnerThatSubscribesAgainAndIsNotHeardByTheNextDispatcherKeepsTheTopic() {
    bench.pass(HOUR / 2 - 10_000, one);
    bench.activate(
        List.of(
            Bench.ghost("g", "a", "a1", 5L, List.of("t", "u"), null, "host", bench.now + 15_000)));
    long request = bench.forget("u", "a");
    bench.pass(14_000);
    assertThat(bench.answer(request)).isNull();
    bench.pass(4_000);
    assertThat(refused(request).refusal()).isEqualTo(Refusal.GROUP_ACTIVE);
    assertThat(bench.log.lease("g", U)).isNotNull();
  }

  @Test
  void aRefusalOfTheLogIsPassedOn() {
    bench.refuseNext = Refusal.UNAVAILABLE;
    assertThat(refused(bench.forget("u", null)).refusal()).isEqualTo(Refusal.UNAVAILABLE);
    assertThat(bench.log.lease("g", U)).isNotNull();
    assertThat(bench.answer(bench.forget("u", null)))
        .isInstanceOf(DispatcherAction.Forgotten.class);
  }

  @Test
  void eachDeletionIsAnsweredWithWhatCameOfIt() {
    bench.loseForgets = true;
    long first = bench.forget("u", null);
    bench.refuseNext = Refusal.UNAVAILABLE;
    bench.send(Bench.leaving(one));
    assertThat(refused(bench.forget(null, null)).refusal()).isEqualTo(Refusal.UNAVAILABLE);
    bench.loseForgets = false;
    bench.pass(10_000);
    assertThat(bench.answer(first)).isInstanceOf(DispatcherAction.Forgotten.class);
  }

  @Test
  void nothingIsDeletedUnlessAllLogGroupsTakePart() {
    bench.loseRaises = true;
    assertThat(refused(bench.forget("u", null)).refusal()).isEqualTo(Refusal.UNAVAILABLE);
    assertThat(bench.log.groups.get("g").topics()).containsExactly("t", "u");
    bench.loseRaises = false;
    assertThat(bench.answer(bench.forget("u", null)))
        .isInstanceOf(DispatcherAction.Forgotten.class);
  }

  @Test
  void aLateAnswerDoesNotTouchTheNextLifeOfTheGroup() {
    bench.holdForgets = true;
    bench.forget("u", null);
    bench.answerNextForget();
    assertThat(bench.log.groups.get("g").topics()).containsExactly("t");
    bench.holdForgets = false;
    bench.send(Bench.leaving(one));
    assertThat(bench.answer(bench.forget(null, null)))
        .isInstanceOf(DispatcherAction.Forgotten.class);
    Heartbeat again = Bench.in(bench.beat("b"), "sharded", List.of("t", "u"), null);
    bench.send(again);
    bench.pass(1_000, again);
    assertThat(bench.core.find("g").shards().get(U).owner()).isEqualTo("b");
    bench.clear();
    bench.answerNextForget();
    assertThat(bench.core.find("g").shards().get(U).owner()).isEqualTo("b");
    assertThat(bench.actions).isEmpty();
  }

  @Test
  void aDeletionThatCannotEndIsAnsweredAndGoesOn() {
    bench.loseForgets = true;
    long request = bench.forget("u", null);
    bench.pass(ForgetHandler.PATIENCE_MILLIS, one);
    assertThat(refused(request).refusal()).isEqualTo(Refusal.INDETERMINATE);
    bench.loseForgets = false;
    bench.pass(10_000, one);
    assertThat(bench.log.lease("g", U)).isNull();
  }

  private DispatcherAction.Refuse refused(long request) {
    return (DispatcherAction.Refuse) bench.answer(request);
  }

  private boolean askedToForget() {
    return bench.metaWrites().stream().anyMatch(MetaCommand.ForgetTopic.class::isInstance);
  }

  private List<DataCommand.ForgetLeases> drops() {
    return bench.actions.stream()
        .filter(DispatcherAction.ForgetLeases.class::isInstance)
        .map(each -> ((DispatcherAction.ForgetLeases) each).command())
        .filter(each -> each.topicId() != DataCommand.ForgetLeases.NO_TOPIC)
        .toList();
  }
}
