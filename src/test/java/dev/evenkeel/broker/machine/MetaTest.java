package dev.evenkeel.broker.machine;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.ClusterNode;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MetaTest {
  private final Rig rig = new Rig();

  private Reply create(String name, int shards) {
    return rig.run(new MetaCommand.CreateTopic(name, shards, TopicConfig.DEFAULT));
  }

  private static Refusal refusal(Reply reply) {
    return reply instanceof Reply.Refused refused ? refused.refusal() : null;
  }

  @Test
  void aTopicsLife() {
    TopicInfo topic = ((Reply.OfTopic) create("orders", 4)).topic();
    assertThat(topic.state()).isEqualTo(TopicInfo.State.CREATING);
    assertThat(refusal(create("orders", 4))).isEqualTo(Refusal.TOPIC_EXISTS);
    rig.run(new MetaCommand.ActivateTopic(topic.id(), null));
    assertThat(((Reply.Refused) create("orders", 9)).detail())
        .isEqualTo("topic 'orders' exists with 4 shards");
    TopicConfig config = new TopicConfig(5, 6, 7);
    rig.run(new MetaCommand.ConfigureTopic(topic.id(), config));
    assertThat(rig.meta.tables().topic("orders").config()).isEqualTo(config);

    rig.run(new MetaCommand.DeleteTopic("orders"));
    assertThat(refusal(rig.run(new MetaCommand.DeleteTopic("orders"))))
        .isEqualTo(Refusal.UNKNOWN_TOPIC);
    assertThat(refusal(create("orders", 4))).as("taken until gone").isEqualTo(Refusal.TOPIC_EXISTS);
    assertThat(refusal(rig.run(new MetaCommand.ActivateTopic(topic.id(), null))))
        .isEqualTo(Refusal.UNKNOWN_TOPIC);
    rig.run(new MetaCommand.RemoveTopic(topic.id(), 0));
    assertThat(rig.run(new MetaCommand.RemoveTopic(topic.id(), 0))).isEqualTo(Reply.DONE);
    assertThat(((Reply.OfTopic) create("orders", 1)).topic().id())
        .as("ids are never used again")
        .isEqualTo(topic.id() + 1);
  }

  @Test
  void refusesTopicsThatMakeNoSense() {
    assertThat(refusal(create("", 1))).isEqualTo(Refusal.INVALID);
    assertThat(refusal(create("a b", 1))).isEqualTo(Refusal.INVALID);
    assertThat(refusal(create("a", 0))).isEqualTo(Refusal.INVALID);
    assertThat(refusal(create("a", 10_001))).isEqualTo(Refusal.INVALID);
    assertThat(refusal(rig.run(new MetaCommand.CreateTopic("a", 1, new TopicConfig(-1, -1, -1)))))
        .isEqualTo(Refusal.INVALID);
    assertThat(rig.meta.tables().topics()).isEmpty();
  }

  private List<Integer> groupsOf(String topic) {
    return rig.meta.tables().topic(topic).open().groups();
  }

  @Test
  void newShardsGoToTheLogGroupsWithTheFewest() throws Exception {
    create("old", 7);
    rig.run(new MetaCommand.AddLogGroup(3, List.of("n1@a", "n2@b", "n3@c")));
    create("before", 3);
    assertThat(groupsOf("before")).as("the added group does not work yet").isEmpty();
    rig.run(new MetaCommand.OpenLogGroup(3));
    rig.meta.close();
    rig.meta.open();
    create("few", 1);
    assertThat(groupsOf("few")).containsExactly(3);
    create("many", 9);
    // Of the old ones, groups 0 to 2 have 3, 4 and 3 shards.
    assertThat(groupsOf("many")).containsExactly(3, 0, 2, 1);
    TopicInfo many = rig.meta.tables().topic("many");
    assertThat(List.of(many.group(0, 3), many.group(3, 3), many.group(4, 3)))
        .containsExactly(3, 1, 3);
    rig.run(new MetaCommand.ActivateTopic(rig.meta.tables().topic("old").id(), null));
    rig.run(new MetaCommand.ReshardTopic("old", 3));
    assertThat(rig.meta.tables().topic("old").next().groups()).hasSize(3).contains(3);
    assertThat(groupsOf("old")).isEmpty();
  }

  @Test
  void aLogGroupIsFoundedOnceAndGroupsOpenInTheirOrder() {
    MetaCommand.AddLogGroup add = new MetaCommand.AddLogGroup(3, List.of("n1@a"));
    assertThat(rig.run(add)).isEqualTo(Reply.DONE);
    assertThat(rig.run(new MetaCommand.AddLogGroup(3, List.of("n2@b")))).isEqualTo(Reply.DONE);
    assertThat(rig.meta.tables().addedGroups()).containsExactly(add.added());
    assertThat(rig.meta.tables().placement()).containsExactly(Map.entry("d3", List.of("n1")));
    assertThat(refusal(rig.run(new MetaCommand.AddLogGroup(5, List.of("n2@b")))))
        .isEqualTo(Refusal.INVALID);
    assertThat(refusal(rig.run(new MetaCommand.AddLogGroup(4, List.of()))))
        .isEqualTo(Refusal.INVALID);
    rig.run(new MetaCommand.AddLogGroup(4, List.of("n2@b")));
    assertThat(refusal(rig.run(new MetaCommand.OpenLogGroup(4)))).isEqualTo(Refusal.INVALID);
    assertThat(refusal(rig.run(new MetaCommand.OpenLogGroup(5)))).isEqualTo(Refusal.INVALID);
    assertThat(rig.run(new MetaCommand.OpenLogGroup(3))).isEqualTo(Reply.DONE);
    assertThat(rig.run(new MetaCommand.OpenLogGroup(3))).isEqualTo(Reply.DONE);
    assertThat(rig.meta.tables().openGroups()).isEqualTo(1);
  }

  @Test
  void aFounderStaysUntilItsLogGroupWorks() {
    ClusterNode node = new ClusterNode("n1", "host", 5_701, "", ClusterNode.State.LEAVING);
    rig.run(new MetaCommand.PutNodes(List.of(node)));
    rig.run(new MetaCommand.AddLogGroup(3, List.of("n1@a", "n2@b")));
    assertThat(refusal(rig.run(new MetaCommand.RemoveNode("n1")))).isEqualTo(Refusal.UNAVAILABLE);
    rig.run(new MetaCommand.OpenLogGroup(3));
    assertThat(rig.run(new MetaCommand.RemoveNode("n1"))).isEqualTo(Reply.DONE);
  }

  private Reply declare(String mode, List<String> topics, boolean force) {
    return rig.run(
        Commands.declareGroup("g", GroupPolicy.of(mode), topics, StartAt.EARLIEST, force));
  }

  @Test
  void groupsGatherTopicsAndKeepTheirMode() {
    declare("sharded", List.of("b"), false);
    GroupInfo group = ((Reply.OfGroup) declare("sharded", List.of("a", "b"), false)).group();
    assertThat(group.topics()).containsExactly("a", "b");
    assertThat(refusal(declare("level", List.of(), false))).isEqualTo(Refusal.GROUP_MISMATCH);
    assertThat(((Reply.OfGroup) declare("level", List.of(), true)).group().mode())
        .isEqualTo("level");
    rig.run(new MetaCommand.AddActiveTime(5_000));
    rig.run(new MetaCommand.SeeGroup("g", List.of("b", "c"), List.of()));
    assertThat(rig.meta.tables().group("g").seenMillis()).isEqualTo(5_000);
    assertThat(rig.meta.tables().group("g").subscriptions())
        .containsExactly(Map.entry("a", 0L), Map.entry("b", 5_000L));
    assertThat(rig.run(new MetaCommand.ForgetGroup("g"))).isEqualTo(Reply.DONE);
    assertThat(refusal(rig.run(new MetaCommand.SeeGroup("g", List.of(), List.of()))))
        .isEqualTo(Refusal.UNKNOWN_GROUP);
  }

  @Test
  void aTopicIsForgottenAlone() throws Exception {
    declare("sharded", List.of("a", "b"), false);
    GroupInfo after = ((Reply.OfGroup) rig.run(new MetaCommand.ForgetTopic("g", "a"))).group();
    assertThat(after.topics()).containsExactly("b");
    assertThat(rig.run(new MetaCommand.ForgetTopic("g", "a"))).isEqualTo(new Reply.OfGroup(after));
    rig.meta.close();
    rig.meta.open();
    assertThat(rig.meta.tables().group("g")).isEqualTo(after);
    assertThat(refusal(rig.run(new MetaCommand.ForgetTopic("h", "a"))))
        .isEqualTo(Refusal.UNKNOWN_GROUP);
  }

  /** Whatever the clocks of leaders say, and however long nobody leads. */
  @Test
  void activeTimeGrowsByShortStepsAlone() throws Exception {
    rig.run(new MetaCommand.AddActiveTime(60_000));
    rig.now += 8L * 24 * 3_600_000;
    assertThat(rig.run(new MetaCommand.AddActiveTime(1_000))).isEqualTo(new Reply.OfNumber(61_000));
    assertThat(rig.run(new MetaCommand.AddActiveTime(-1))).isEqualTo(new Reply.OfNumber(61_000));
    rig.meta.close();
    rig.meta.open();
    assertThat(rig.run(new MetaCommand.AddActiveTime(Long.MAX_VALUE)))
        .isEqualTo(new Reply.OfNumber(61_000 + Limits.ACTIVE_STEP_MILLIS_MAX));
  }

  private Reply declareWith(String assignor, boolean force) {
    return rig.run(
        new MetaCommand.DeclareGroup(
            "g", GroupPolicy.SHARDED, List.of("t"), StartAt.EARLIEST, force, assignor, List.of()));
  }

  @Test
  void groupsKeepTheirAssignorUnlessItIsForced() throws Exception {
    declareWith(null, false);
    assertThat(rig.meta.tables().group("g").assignor()).isEqualTo("sticky");
    assertThat(refusal(declareWith("average", false))).isEqualTo(Refusal.GROUP_MISMATCH);
    declareWith("average", true);
    declareWith(null, false);
    rig.run(new MetaCommand.SeeGroup("g", List.of("t"), List.of()));
    rig.meta.close();
    rig.meta.open();
    assertThat(rig.meta.tables().group("g").assignor()).isEqualTo("average");
    assertThat(refusal(declareWith("no good name", true))).isEqualTo(Refusal.INVALID);
  }

  @Test
  void producersGetIdsAndEpochs() throws Exception {
    assertThat(register("")).isEqualTo(new Reply.OfProducer(1, 0));
    assertThat(register("p")).isEqualTo(new Reply.OfProducer(2, 0));
    assertThat(register("p")).isEqualTo(new Reply.OfProducer(2, 1));
    rig.meta.close();
    rig.meta.open();
    assertThat(register("p")).isEqualTo(new Reply.OfProducer(2, 2));
    assertThat(register("")).isEqualTo(new Reply.OfProducer(3, 0));
  }

  private Reply next(int epoch) {
    return rig.run(new MetaCommand.ContinueProducer("p", epoch));
  }

  @Test
  void onlyTheLatestProducerOfANameGetsANextEpoch() throws Exception {
    assertThat(refusal(register("p"))).isNull();
    rig.run(new MetaCommand.RaiseFeatureLevel(FeatureLevel.CONTINUED_PRODUCERS));
    assertThat(next(0)).isEqualTo(new Reply.OfProducer(1, 1));
    rig.meta.close();
    rig.meta.open();
    assertThat(next(0)).as("a repeat").isEqualTo(new Reply.OfProducer(1, 1));
    assertThat(next(1)).isEqualTo(new Reply.OfProducer(1, 2));
    assertThat(refusal(next(0))).as("long ago").isEqualTo(Refusal.PRODUCER_FENCED);
    assertThat(register("p")).isEqualTo(new Reply.OfProducer(1, 3));
    assertThat(refusal(next(2))).as("another's").isEqualTo(Refusal.PRODUCER_FENCED);
    assertThat(refusal(next(1))).isEqualTo(Refusal.PRODUCER_FENCED);
    rig.meta.close();
    rig.meta.open();
    assertThat(refusal(next(2))).isEqualTo(Refusal.PRODUCER_FENCED);
    assertThat(next(3)).isEqualTo(new Reply.OfProducer(1, 4));
    assertThat(refusal(rig.run(new MetaCommand.ContinueProducer("q", 0))))
        .isEqualTo(Refusal.UNKNOWN_PRODUCER);
  }

  private Reply register(String name) {
    return rig.run(new MetaCommand.RegisterProducer(name));
  }

  private static Quota topicQuota(String name, long bytes) {
    return Quota.perSecond(QuotaKind.TOPIC, name, bytes, 0);
  }

  private Reply set(Quota quota) {
    return rig.run(new MetaCommand.SetQuota(quota));
  }

  @Test
  void quotasAreSetChangedAndRemoved() throws Exception {
    rig.run(new MetaCommand.RaiseFeatureLevel(FeatureLevel.QUOTAS));
    assertThat(rig.meta.tables().hasQuotas()).isFalse();
    assertThat(set(topicQuota("orders", 5))).isEqualTo(Reply.DONE);
    assertThat(set(topicQuota("orders", 7))).isEqualTo(Reply.DONE);
    Quota rate = new Quota(QuotaKind.GROUP_RATE, "orders", 0, 30, 60_000);
    set(rate);
    rig.meta.close();
    rig.meta.open();
    assertThat(rig.meta.tables().quotas()).containsExactly(topicQuota("orders", 7), rate);
    assertThat(rig.meta.tables().quota(QuotaKind.GROUP, "orders")).isNull();
    set(Quota.none(QuotaKind.TOPIC, "orders"));
    assertThat(set(Quota.none(QuotaKind.TOPIC, "orders"))).isEqualTo(Reply.DONE);
    assertThat(rig.meta.tables().quotas()).containsExactly(rate);
  }

  @Test
  void refusesQuotasThatMakeNoSense() {
    rig.run(new MetaCommand.RaiseFeatureLevel(FeatureLevel.QUOTAS));
    assertThat(refusal(set(topicQuota("a b", 5)))).isEqualTo(Refusal.INVALID);
    assertThat(refusal(set(topicQuota("a", -5)))).isEqualTo(Refusal.INVALID);
    assertThat(refusal(set(Quota.perSecond(QuotaKind.GROUP_RATE, "g", 5, 5))))
        .isEqualTo(Refusal.INVALID);
    rig.run(
        new MetaCommand.DeclareGroup(
            "even",
            GroupPolicy.of(GroupPolicy.MODE_LEVEL),
            List.of("a"),
            StartAt.EARLIEST,
            false,
            null,
            List.of()));
    assertThat(refusal(set(Quota.perSecond(QuotaKind.GROUP_RATE, "even", 0, 5))))
        .isEqualTo(Refusal.INVALID);
    assertThat(rig.meta.tables().quotas()).isEmpty();
  }

  @Test
  void refusesMoreQuotasThanItKeeps() {
    rig.run(new MetaCommand.RaiseFeatureLevel(FeatureLevel.QUOTAS));
    times(Quota.QUOTAS_MAX, i -> set(topicQuota("t" + i, 5)));
    assertThat(refusal(set(topicQuota("more", 5)))).isEqualTo(Refusal.TOO_LARGE);
    assertThat(set(topicQuota("t1", 6))).as("a change of one").isEqualTo(Reply.DONE);
  }
}
