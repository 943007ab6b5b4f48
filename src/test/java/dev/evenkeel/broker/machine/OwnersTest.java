package dev.evenkeel.broker.machine;

import static dev.evenkeel.broker.state.SharedTable.GROUPS;
import static dev.evenkeel.broker.state.SharedTable.PAUSES;
import static dev.evenkeel.broker.state.SharedTable.PRODUCERS;
import static dev.evenkeel.broker.state.SharedTable.QUOTAS;
import static dev.evenkeel.broker.state.SharedTable.TOPICS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.broker.decide.ClusterDecider;
import dev.evenkeel.broker.serve.MetaIds;
import dev.evenkeel.broker.state.Owners;
import dev.evenkeel.broker.state.SharedTable;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Pause;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which user has made a row of the meta log group, and names of producers that are forgotten. */
class OwnersTest {
  private static final Quota QUOTA = Quota.perSecond(QuotaKind.TOPIC, "t", 5, 0);

  private final Rig rig = new Rig();

  OwnersTest() {
    rig.run(new MetaCommand.RaiseFeatureLevel(FeatureLevel.NEWEST));
  }

  private Reply by(String user, MetaCommand command) {
    return rig.run(new MetaCommand.ByUser(user, command));
  }

  private Reply register(String name) {
    return rig.run(new MetaCommand.RegisterProducer(name));
  }

  private static MetaCommand declare(String group) {
    return Commands.declareGroup(group, GroupPolicy.SHARDED, List.of("t"), StartAt.EARLIEST, false);
  }

  private Owners owners() {
    return rig.meta.tables().owners();
  }

  private Map<SharedTable, Map<String, Integer>> counts() {
    return Map.of(
        PRODUCERS, Map.copyOf(owners().counts(PRODUCERS)),
        GROUPS, Map.copyOf(owners().counts(GROUPS)),
        QUOTAS, Map.copyOf(owners().counts(QUOTAS)),
        TOPICS, Map.copyOf(owners().counts(TOPICS)),
        PAUSES, Map.copyOf(owners().counts(PAUSES)));
  }

  private static MetaCommand pause(String group, String topic, int shard, boolean paused) {
    return new MetaCommand.PauseGroup(group, topic, shard, paused);
  }

  private void makeAll() {
    by("shop", new MetaCommand.RegisterProducer("p"));
    by("shop", declare("g"));
    by("shop", new MetaCommand.SetQuota(QUOTA));
    by("pay", new MetaCommand.CreateTopic("t", 1, TopicConfig.DEFAULT));
    by("pay", declare("h"));
    by("pay", pause("g", null, Pause.ALL_SHARDS, true));
    by("shop", pause("g", "t", Pause.ALL_SHARDS, true));
    by("shop", pause("h", "t", 0, true));
    rig.run(declare("nobodys"));
  }

  @Test
  void whoMakesARowOwnsItAlsoAfterARestart() {
    makeAll();
    Map<SharedTable, Map<String, Integer>> expected =
        Map.of(
            PRODUCERS, Map.of("shop", 1),
            GROUPS, Map.of("shop", 1, "pay", 1),
            QUOTAS, Map.of("shop", 1),
            TOPICS, Map.of("pay", 1),
            PAUSES, Map.of("pay", 1, "shop", 2));
    assertThat(counts()).isEqualTo(expected);
    rig.reopen();
    assertThat(counts()).isEqualTo(expected);
    assertThat(owners().of(new SharedTable.Row(GROUPS, "h"))).isEqualTo("pay");
    assertThat(owners().of(new SharedTable.Row(GROUPS, "nobodys"))).isNull();
  }

  @Test
  void aRowKeepsItsOwnerUntilItGoes() {
    makeAll();
    by("pay", new MetaCommand.RegisterProducer("p"));
    by("pay", declare("g"));
    by("pay", new MetaCommand.SetQuota(Quota.perSecond(QuotaKind.TOPIC, "t", 6, 0)));
    by("pay", declare("nobodys"));
    assertThat(counts().get(GROUPS)).isEqualTo(Map.of("shop", 1, "pay", 1));
    assertThat(counts().get(PRODUCERS)).isEqualTo(Map.of("shop", 1));
    rig.run(new MetaCommand.ForgetGroup("g"));
    rig.run(new MetaCommand.ForgetGroup("nobodys"));
    rig.run(new MetaCommand.SetQuota(Quota.none(QuotaKind.TOPIC, "t")));
    int topic = rig.meta.tables().topic("t").id();
    rig.run(new MetaCommand.DeleteTopic("t"));
    rig.run(new MetaCommand.RemoveTopic(topic, 0));
    Map<SharedTable, Map<String, Integer>> left =
        Map.of(
            PRODUCERS, Map.of("shop", 1),
            GROUPS, Map.of("pay", 1),
            QUOTAS, Map.of(),
            TOPICS, Map.of(),
            PAUSES, Map.of());
    assertThat(counts()).isEqualTo(left);
    rig.reopen();
    assertThat(counts()).isEqualTo(left);
    by("pay", declare("g"));
    assertThat(counts().get(GROUPS)).isEqualTo(Map.of("pay", 2));
  }

  @Test
  void pausesGoWithWhatTheyPause() {
    makeAll();
    by("pay", pause("g", "t", Pause.ALL_SHARDS, true));
    assertThat(counts().get(PAUSES)).as("it was there").isEqualTo(Map.of("pay", 1, "shop", 2));
    by("pay", pause("h", "t", Pause.ALL_SHARDS, false));
    assertThat(counts().get(PAUSES)).isEqualTo(Map.of("pay", 1, "shop", 1));
    by("pay", pause("g", null, Pause.ALL_SHARDS, false));
    assertThat(counts().get(PAUSES)).as("the whole group").isEmpty();
    by("pay", pause("g", "no-such-topic", Pause.ALL_SHARDS, true));
    by("pay", pause("no-such-group", null, Pause.ALL_SHARDS, true));
    assertThat(counts().get(PAUSES)).isEmpty();
    rig.reopen();
    assertThat(counts().get(PAUSES)).isEmpty();
  }

  @Test
  void whatIsRefusedHasNoOwner() {
    assertThat(by("shop", new MetaCommand.RegisterProducer("no good name")))
        .isInstanceOf(Reply.Refused.class);
    assertThat(by("shop", new MetaCommand.ForgetGroup("g"))).isInstanceOf(Reply.Refused.class);
    assertThat(by(null, declare("g"))).isInstanceOf(Reply.Refused.class);
    assertThat(by("", declare("g"))).isInstanceOf(Reply.Refused.class);
    assertThat(by("shop", new MetaCommand.RegisterProducer("")))
        .isEqualTo(new Reply.OfProducer(1, 0));
    assertThat(counts().values()).allMatch(Map::isEmpty);
    assertThat(rig.meta.tables().groups()).isEmpty();
  }

  /** Otherwise a program could send one that is read for ever. */
  @Test
  void aCommandHasOneUser() {
    MetaCommand two = new MetaCommand.ByUser("a", new MetaCommand.ByUser("b", declare("g")));
    Bytes bytes = new Bytes();
    CommandCodec.write(bytes, two);
    assertThatThrownBy(
            () -> CommandCodec.meta(new dev.evenkeel.protocol.wire.ByteReader(bytes.view())))
        .isInstanceOf(RefusedException.class);
    assertThatThrownBy(two::check).isInstanceOf(RefusedException.class);
  }

  @Test
  void nodesOfTheFormerVersionNeverGetOne() {
    byte[] entry = Entry.of(new MetaCommand.ByUser("a", declare("g")), 0);
    assertThat(Entry.level(ByteBuffer.wrap(entry))).isEqualTo(FeatureLevel.TABLE_OWNERS);
    Rig former = new Rig();
    former.run(new MetaCommand.RaiseFeatureLevel(FeatureLevel.TABLE_OWNERS - 1));
    assertThatThrownBy(() -> former.meta.admit(ByteBuffer.wrap(entry)))
        .isInstanceOf(RefusedException.class);
  }

  // ---- Names that are forgotten

  private void pass(long millis) {
    for (long left = millis; left > 0; left -= Limits.ACTIVE_STEP_MILLIS_MAX) {
      rig.run(new MetaCommand.AddActiveTime(Math.min(left, Limits.ACTIVE_STEP_MILLIS_MAX)));
    }
  }

  private void forget(String... names) {
    rig.run(new MetaCommand.TendProducers(List.of(), List.of(names)));
  }

  @Test
  void aNameThatComesBackHasItsIdAndALaterEpoch() {
    long id = ProducerIds.ofName("p");
    assertThat(by("shop", new MetaCommand.RegisterProducer("p")))
        .isEqualTo(new Reply.OfProducer(id, 0));
    assertThat(register("p")).isEqualTo(new Reply.OfProducer(id, 1));
    assertThat(register("p")).isEqualTo(new Reply.OfProducer(id, 2));
    pass(ClusterDecider.NAME_FORGET_MILLIS - 1);
    forget("p");
    assertThat(rig.meta.tables().producer("p")).as("not old enough").isNotNull();
    pass(1);
    forget("p", "unheard-of");
    assertThat(rig.meta.tables().namedProducers()).isZero();
    assertThat(rig.meta.tables().producerName(id)).isNull();
    assertThat(counts().get(PRODUCERS)).isEmpty();
    rig.reopen();
    assertThat(rig.run(new MetaCommand.ContinueProducer("p", 2)))
        .as("of whoever had the name")
        .isInstanceOfSatisfying(
            Reply.Refused.class,
            no -> assertThat(no.refusal()).isEqualTo(Refusal.UNKNOWN_PRODUCER));
    assertThat(register("other")).isEqualTo(new Reply.OfProducer(ProducerIds.ofName("other"), 3));
    assertThat(register("p")).isEqualTo(new Reply.OfProducer(id, 3));
    assertThat(rig.run(new MetaCommand.ContinueProducer("p", 2)))
        .isInstanceOfSatisfying(
            Reply.Refused.class, no -> assertThat(no.refusal()).isEqualTo(Refusal.PRODUCER_FENCED));
    assertThat(rig.run(new MetaCommand.ContinueProducer("p", 3)))
        .isEqualTo(new Reply.OfProducer(id, 4));
  }

  /** Also a node that has not heard of names that came later knows which were forgotten. */
  @Test
  void aNodeTellsForgottenNamesFromThoseOfWhichItHasNotHeard() {
    MetaIds ids = new MetaIds(() -> rig.meta.tables());
    long id = ProducerIds.ofName("p");
    register("p");
    register("p");
    assertThat(ids.isForgotten(id, 0)).as("another has taken it over").isFalse();
    assertThat(ids.isForgotten(ProducerIds.ofName("other"), 0)).as("unheard of").isFalse();
    pass(ClusterDecider.NAME_FORGET_MILLIS);
    forget("p");
    assertThat(ids.isForgotten(id, 1)).isTrue();
    assertThat(ids.isForgotten(ProducerIds.ofUser(7, "shop"), 0)).isFalse();
    int later = ((Reply.OfProducer) register("other")).epoch();
    assertThat(ids.isForgotten(id, later)).as("it may be back").isFalse();
    register("p");
    assertThat(ids.isForgotten(id, 1)).isFalse();
  }

  /** As if its name had never been forgotten. */
  @Test
  void whoeverHadTheNameIsFencedOnceItComesBack() {
    Rig data = Rig.opened();
    Reply.OfProducer first = (Reply.OfProducer) register("p");
    pass(ClusterDecider.NAME_FORGET_MILLIS);
    forget("p");
    Reply.OfProducer second = (Reply.OfProducer) register("p");
    assertThat(second.producerId()).isEqualTo(first.producerId());
    data.run(new DataCommand.OpenProducer(second.producerId(), second.epoch()));
    assertThat(data.append(Rig.SHARD, Rig.batch(first.producerId(), first.epoch(), 0, 1)).refusal())
        .isEqualTo(Refusal.PRODUCER_FENCED);
    assertThat(data.run(new DataCommand.OpenProducer(first.producerId(), first.epoch())))
        .isInstanceOfSatisfying(
            Reply.Refused.class, no -> assertThat(no.refusal()).isEqualTo(Refusal.PRODUCER_FENCED));
  }

  @Test
  void aNameInUseStays() {
    register("open");
    register("appending");
    register("unused");
    pass(ClusterDecider.NAME_FORGET_MILLIS);
    register("open");
    rig.run(
        new MetaCommand.TendProducers(
            List.of("appending"), List.of("open", "appending", "unused")));
    assertThat(names()).containsExactlyInAnyOrder("open", "appending");
    pass(ClusterDecider.NAME_FORGET_MILLIS - 1);
    rig.reopen();
    forget("open", "appending");
    assertThat(names()).containsExactlyInAnyOrder("open", "appending");
    pass(1);
    forget("open", "appending");
    assertThat(names()).isEmpty();
  }

  private List<String> names() {
    return rig.meta.tables().producers().stream().map(each -> each.name()).toList();
  }

  /** A spool may have its id, which would not come back. */
  @Test
  void aNameFromBeforeKeepsItsIdForEver() {
    Rig former = new Rig();
    Reply before = former.run(new MetaCommand.RegisterProducer("p"));
    assertThat(before).isEqualTo(new Reply.OfProducer(1, 0));
    former.run(new MetaCommand.RaiseFeatureLevel(FeatureLevel.NEWEST));
    assertThat(former.run(new MetaCommand.RegisterProducer("p")))
        .isEqualTo(new Reply.OfProducer(1, 1));
    for (int i = 0; i < 10_000; i++) {
      former.run(new MetaCommand.AddActiveTime(Limits.ACTIVE_STEP_MILLIS_MAX));
    }
    former.run(new MetaCommand.TendProducers(List.of("p"), List.of("p")));
    former.run(new MetaCommand.TendProducers(List.of(), List.of("p")));
    former.reopen();
    assertThat(former.run(new MetaCommand.RegisterProducer("p")))
        .isEqualTo(new Reply.OfProducer(1, 2));
  }

  @Test
  void idsOfNamesLookLikeNoOthers() {
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      long id = ProducerIds.ofName("name-" + i);
      ids.add(id);
      assertThat(id).isPositive();
      assertThat(ProducerIds.isOfName(id)).isTrue();
      assertThat(ProducerIds.isOfGroup(id)).isFalse();
      assertThat(ProducerIds.tag(id)).isZero();
      assertThat(id).as("above those of nodes").isGreaterThanOrEqualTo((1L << 62) + (1L << 60));
    }
    assertThat(ids).doesNotHaveDuplicates();
    for (long id : List.of(1L, ProducerIds.ofUser(1, "a"), ProducerIds.ofGroup(1, "g"))) {
      assertThat(ProducerIds.isOfName(id)).isFalse();
    }
  }
}
