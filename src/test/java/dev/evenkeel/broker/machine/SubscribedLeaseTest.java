package dev.evenkeel.broker.machine;

import static dev.evenkeel.broker.machine.Rig.OTHER;
import static dev.evenkeel.broker.machine.Rig.SHARD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
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
    rig.run(new MetaCommand.ForgetTopic("late", "t*"));
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
}
