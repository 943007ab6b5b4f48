package dev.evenkeel.broker.machine;

import static dev.evenkeel.Loops.times;
import static dev.evenkeel.broker.machine.Rig.OTHER;
import static dev.evenkeel.broker.machine.Rig.SHARD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.decide.GroupDecider;
import dev.evenkeel.broker.decide.TopicDecider;
import dev.evenkeel.broker.state.MetaChange;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupPattern;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A group has leases on the shards that it reads before anybody owns them. */
class SubscribedLeaseTest {
  private final Rig rig = new Rig();

  private Lease open(String group, Shard shard, StartAt start) {
    Reply reply = rig.run(new DataCommand.OpenLease(group, shard, start));
    return ((Reply.OfLease) reply).lease();
  }

  private void openShards(int first, int end, int readFrom, String... readers) {
    List<Integer> shards = java.util.stream.IntStream.range(first, end).boxed().toList();
    TopicConfig config = new TopicConfig(1_000, -1, -1);
    rig.run(new DataCommand.OpenShards(1, "orders", shards, config, 0, List.of(readers), readFrom));
  }

  private void consume(String group, Shard shard, long offset) {
    Lease lease = rig.tables().lease(group, shard);
    Lease granted = rig.grant(group, shard, "m", lease == null ? 0 : lease.epoch());
    rig.run(Commands.commit(group, shard, granted.epoch(), offset));
  }

  private ShardRecord shard(Shard shard) {
    return rig.tables().shard(shard);
  }

  @Test
  void aLeaseIsOpenedOnceAndKeepsItsPlace() {
    openShards(0, 2, 0);
    rig.fill(SHARD, 10);
    Lease lease = open("g", SHARD, StartAt.LATEST);
    assertThat(lease.owned()).isFalse();
    assertThat(lease.committed()).isEqualTo(10);
    rig.fill(SHARD, 5);
    assertThat(open("g", SHARD, StartAt.LATEST)).isEqualTo(lease);
    Lease granted = rig.grant("g", SHARD, "m", lease.epoch(), StartAt.LATEST);
    assertThat(granted.epoch()).isEqualTo(lease.epoch() + 1);
    assertThat(granted.committed())
        .as("what was sent since the subscription is there")
        .isEqualTo(10);
    assertThat(open("g", SHARD, StartAt.EARLIEST).owner()).isEqualTo("m");
    assertThat(rig.run(new DataCommand.OpenLease("g", new Shard(9, 9), StartAt.EARLIEST)))
        .isInstanceOfSatisfying(
            Reply.Refused.class, no -> assertThat(no.refusal()).isEqualTo(Refusal.UNKNOWN_SHARD));
  }

  @Test
  void retentionKeepsWhatAGroupWithoutAnOwnerHasNotConsumed() {
    openShards(0, 2, 0, "fast", "stopped");
    rig.fill(SHARD, 10);
    consume("fast", SHARD, 10);
    rig.pass(600_000);
    assertThat(shard(SHARD).start()).isZero();
    consume("stopped", SHARD, 10);
    rig.pass(600_000);
    assertThat(shard(SHARD).start()).isEqualTo(10);
  }

  @Test
  void newShardsOfATopicComeWithLeasesAndFormerOnesDoNot() {
    openShards(0, 2, 0, "g");
    rig.fill(SHARD, 10);
    openShards(0, 4, 2, "g", "late");
    assertThat(rig.tables().lease("late", SHARD)).as("the dispatcher opens it").isNull();
    assertThat(rig.tables().lease("late", new Shard(1, 2)).committed()).isZero();
    Shard made = new Shard(1, 3);
    rig.fill(made, 4);
    openShards(0, 4, 2, "g", "late", "later");
    assertThat(rig.tables().lease("later", made).committed()).isZero();
    consume("g", made, 4);
    rig.pass(600_000);
    assertThat(shard(made).start()).isZero();
  }

  /** The request may have been sent before the group came again. */
  @Test
  void aLateRequestToForgetDoesNotDropALeaseThatWasOpenedSince() {
    openShards(0, 2, 0);
    rig.grant("g", SHARD, "m", 0);
    rig.run(new DataCommand.ForgetLeases("g", 7, 1));
    Lease lease = open("g", SHARD, StartAt.EARLIEST);
    assertThat(lease.epoch()).isGreaterThan(7);
    rig.run(new DataCommand.ForgetLeases("g", 7, 1));
    assertThat(rig.tables().lease("g", SHARD)).isEqualTo(lease);
  }

  @Test
  void nothingIsLeftToDoWhereAGroupBeginsAtTheEndOfASealedShard() {
    openShards(0, 2, 0);
    rig.fill(SHARD, 10);
    rig.run(new DataCommand.SealShards(1, 2));
    assertThat(open("late", SHARD, StartAt.LATEST).finished()).isTrue();
    assertThat(open("all", SHARD, StartAt.EARLIEST).passed()).isFalse();
    assertThat(open("all", OTHER, StartAt.EARLIEST).finished()).as("it is empty").isTrue();
  }

  /** Else a group without members would hold the shard, and what comes after it, for ever. */
  @Test
  void sealingFinishesLeasesWithoutAnOwnerThatHaveConsumedEverything() {
    openShards(0, 2, 0, "g", "behind", "stateful");
    rig.fill(SHARD, 10);
    consume("g", SHARD, 10);
    long epoch = rig.tables().lease("g", SHARD).epoch();
    rig.run(new DataCommand.Release("g", SHARD, epoch, 10, -1, null));
    consume("stateful", SHARD, 10);
    epoch = rig.tables().lease("stateful", SHARD).epoch();
    rig.run(new DataCommand.Release("stateful", SHARD, epoch, 10, 4, new byte[] {1}));
    rig.run(new DataCommand.RaiseFeatureLevel(FeatureLevel.SUBSCRIPTIONS - 1));
    rig.run(new DataCommand.SealShards(1, 2));
    assertThat(rig.tables().lease("g", SHARD).finished()).isTrue();
    assertThat(rig.tables().lease("g", OTHER).finished()).isTrue();
    assertThat(rig.tables().lease("behind", SHARD).passed()).isFalse();
    assertThat(rig.tables().lease("stateful", SHARD).passed()).as("its state is older").isFalse();
  }

  /** Entries of clusters of former versions have the same outcome as there. */
  @Test
  void sealingFinishesNothingBelowTheLevel() {
    rig.run(Commands.openShards(1, "orders", List.of(0, 1), TopicConfig.DEFAULT));
    rig.grant("g", SHARD, "m", 0);
    rig.run(new DataCommand.Release("g", SHARD, 1, 0, -1, null));
    rig.run(new DataCommand.SealShards(1, 2));
    assertThat(rig.tables().lease("g", SHARD).passed()).isFalse();
  }

  private List<String> readers() {
    return rig.meta.tables().readers(rig.meta.tables().topic("t"));
  }

  private static MetaCommand.DeclareGroup declare(String group, List<String> allowed) {
    return new MetaCommand.DeclareGroup(
        group,
        GroupPolicy.SHARDED,
        List.of(),
        StartAt.LATEST,
        false,
        null,
        List.of(new GroupPattern("t*", allowed)));
  }

  /** Also if none of its members is there when the topic is made. */
  @Test
  void aGroupWithAPatternReadsATopicFromTheMomentInWhichItIsMade() {
    rig.run(new MetaCommand.CreateTopic("told", 1, TopicConfig.DEFAULT));
    rig.run(new MetaCommand.ActivateTopic(1, List.of()));
    rig.run(declare("g", null));
    rig.run(declare("other", List.of("u*", "told")));
    assertThat(rig.meta.tables().group("g").topics()).containsExactly("told");
    assertThat(rig.meta.tables().group("other").topics()).containsExactly("told");

    Reply made = rig.run(new MetaCommand.CreateTopic("t", 2, TopicConfig.DEFAULT));
    int id = ((Reply.OfTopic) made).topic().id();
    assertThat(readers()).as("those that may read it").containsExactly("g");
    rig.run(declare("late", null));
    assertThat(needsLeases(rig.run(new MetaCommand.ActivateTopic(id, List.of("g"))))).isTrue();
    rig.run(new MetaCommand.ActivateTopic(id, List.of("g", "late")));
    assertThat(rig.meta.tables().group("g").topics()).containsExactly("t", "told");
    assertThat(rig.meta.tables().group("late").topics()).containsExactly("t", "told");
    assertThat(rig.meta.tables().group("other").topics()).containsExactly("told");

    rig.run(new MetaCommand.ForgetTopic("g", "t"));
    assertThat(readers()).as("a new layout comes without a lease of it").containsExactly("late");
    rig.run(declare("g", null));
    assertThat(rig.meta.tables().group("g").reads("t")).as("only a new pattern adds").isFalse();
    rig.run(declare("late", List.of("t*", "u*")));
    rig.run(new MetaCommand.ForgetPattern("late", new GroupPattern("t*", null)));
    assertThat(rig.meta.tables().group("late").takesIn("t2")).as("with other permissions").isTrue();
    rig.run(new MetaCommand.ForgetPattern("late", new GroupPattern("t*", List.of("t*", "u*"))));
    assertThat(rig.meta.tables().group("late").takesIn("t2")).isFalse();
    assertThat(rig.meta.tables().group("late").topics()).containsExactly("t", "told");
  }

  private static boolean needsLeases(Reply reply) {
    return reply instanceof Reply.Refused no && no.refusal() == Refusal.OVERLOADED;
  }

  @Test
  void producersGetNoShardsBeforeEveryGroupThatReadsThemHasLeases() {
    rig.run(Commands.declareGroup("g", GroupPolicy.SHARDED, List.of("t"), StartAt.EARLIEST, false));
    Reply made = rig.run(new MetaCommand.CreateTopic("t", 2, TopicConfig.DEFAULT));
    int id = ((Reply.OfTopic) made).topic().id();
    List<String> readers = readers();
    assertThat(readers).containsExactly("g");
    rig.run(
        Commands.declareGroup("late", GroupPolicy.SHARDED, List.of("t"), StartAt.LATEST, false));
    assertThat(needsLeases(rig.run(new MetaCommand.ActivateTopic(id, readers)))).isTrue();
    assertThat(rig.meta.tables().topic(id).state()).isEqualTo(TopicInfo.State.CREATING);
    rig.run(
        Commands.declareGroup(
            "copies",
            GroupPolicy.of(GroupPolicy.MODE_BROADCAST),
            List.of("t"),
            StartAt.LATEST,
            false));
    readers = readers();
    assertThat(readers).as("broadcast has no leases").containsExactly("g", "late");
    assertThat(rig.run(new MetaCommand.ActivateTopic(id, readers)))
        .isInstanceOf(Reply.OfTopic.class);

    rig.run(new MetaCommand.ReshardTopic("t", 3));
    assertThat(needsLeases(rig.run(new MetaCommand.OpenLayout(id, List.of("g"))))).isTrue();
    assertThat(rig.meta.tables().topic(id).next()).isNotNull();
    rig.run(new MetaCommand.ForgetTopic("late", "t"));
    assertThat(rig.run(new MetaCommand.OpenLayout(id, List.of("g"))))
        .isInstanceOf(Reply.OfTopic.class);
  }

  private TopicInfo create(String name) {
    return ((Reply.OfTopic) rig.run(new MetaCommand.CreateTopic(name, 1, TopicConfig.DEFAULT)))
        .topic();
  }

  private static MetaCommand.DeclareGroup declares(String... topics) {
    return new MetaCommand.DeclareGroup(
        "g",
        GroupPolicy.SHARDED,
        List.of(topics),
        StartAt.EARLIEST,
        false,
        null,
        List.of(new GroupPattern("t*", null)));
  }

  private static int written(List<MetaChange> changes) {
    return changes.stream().mapToInt(each -> each.key().length + each.value().length).sum();
  }

  /** A group with a pattern that has taken in so many topics. */
  private void takeIn(int topics) {
    rig.run(new MetaCommand.RaiseFeatureLevel(FeatureLevel.TOPIC_PATTERNS));
    rig.run(declares("named"));
    times(topics, i -> rig.run(new MetaCommand.ActivateTopic(create("t" + i).id(), List.of("g"))));
  }

  /** What is written for a topic does not grow with what the groups read that take it in. */
  @Test
  void aTopicCostsTheSameInAGroupThatReadsMany() {
    takeIn(2_000);
    var next = new MetaCommand.ActivateTopic(create("t_next").id(), List.of("g"));
    assertThat(written(new TopicDecider(rig.meta.tables()).activate(next).changes()))
        .isLessThan(500);
    rig.run(next);
    MetaCommand.DeclareGroup declares = declares("other", "t_next");
    assertThat(written(new GroupDecider(rig.meta.tables()).declare(declares, rig.now).changes()))
        .isLessThan(500);
    rig.run(declares);
    GroupInfo group = rig.meta.tables().group("g");
    assertThat(group.topics()).hasSize(2_003).contains("named", "other", "t0", "t_next").isSorted();
    rig.reopen();
    assertThat(rig.meta.tables().group("g")).isEqualTo(group);
  }

  /** They could not read a row of its own. */
  @Test
  void nodesOfFormerVersionsFindAllTopicsInTheRecord() {
    rig.run(Commands.declareGroup("g", GroupPolicy.SHARDED, List.of("a"), StartAt.EARLIEST, false));
    rig.run(Commands.declareGroup("g", GroupPolicy.SHARDED, List.of("b"), StartAt.EARLIEST, false));
    assertThat(rig.meta.tables().topicRows("g")).isEmpty();
    rig.run(new MetaCommand.RaiseFeatureLevel(FeatureLevel.ADDED_TOPICS));
    rig.run(Commands.declareGroup("g", GroupPolicy.SHARDED, List.of("c"), StartAt.EARLIEST, false));
    assertThat(rig.meta.tables().topicRows("g")).containsExactly("c");
  }

  @Test
  void whatIsSaidOfATopicLaterIsNotUndoneByARestart() {
    takeIn(3);
    rig.run(new MetaCommand.AddActiveTime(60_000));
    rig.run(new MetaCommand.SeeGroup("g", List.of("t0"), List.of()));
    rig.run(new MetaCommand.ForgetTopic("g", "t1"));
    create("t3");
    rig.run(new MetaCommand.ActivateTopic(rig.meta.tables().topic("t3").id(), List.of("g")));
    GroupInfo group = rig.meta.tables().group("g");
    assertThat(group.subscriptions().toString()).isEqualTo("{named=0, t0=60000, t2=0, t3=60000}");
    rig.reopen();
    assertThat(rig.meta.tables().group("g")).isEqualTo(group);

    rig.run(declares("u0"));
    rig.run(declares("u1", "t0"));
    assertThat(rig.meta.tables().topicRows("g")).containsExactly("u1");
    rig.run(new MetaCommand.AddActiveTime(1_000));
    rig.run(declares("u1"));
    rig.run(declares("t0"));
    group = rig.meta.tables().group("g");
    assertThat(group.subscriptions().toString())
        .isEqualTo("{named=0, t0=61000, t2=0, t3=60000, u0=60000, u1=61000}");
    rig.reopen();
    assertThat(rig.meta.tables().group("g")).isEqualTo(group);
    rig.run(new MetaCommand.ForgetGroup("g"));
    rig.run(Commands.declareGroup("g", GroupPolicy.SHARDED, List.of("x"), StartAt.EARLIEST, false));
    rig.reopen();
    assertThat(rig.meta.tables().group("g").topics()).containsExactly("x");
  }
}
