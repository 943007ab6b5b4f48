package dev.evenkeel.broker.machine;

import static dev.evenkeel.Loops.times;
import static dev.evenkeel.broker.machine.Rig.SHARD;
import static dev.evenkeel.broker.machine.Rig.batch;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.decide.ProducerShare;
import dev.evenkeel.broker.decide.RetainDecider;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** One user's producers do not keep another's out of a data log group. */
class ProducerShareTest {
  private static final int MAX = ProducerShare.PRODUCERS_HARD_MAX;
  private static final int GREEDY = ProducerIds.tagOf("greedy");
  private static final int SHOP = ProducerIds.tagOf("shop");

  private final Rig rig = Rig.opened();

  /** Numbers of producers begin with it. */
  private long number = 1;

  private void raise(int level) {
    rig.run(new DataCommand.RaiseFeatureLevel(level));
  }

  private static Refusal refusal(Reply reply) {
    return reply instanceof Reply.Refused refused ? refused.refusal() : null;
  }

  private Refusal open(long id, int ownerTag) {
    return refusal(rig.run(new DataCommand.OpenProducer(id, 0, ownerTag)));
  }

  private Refusal openOf(String user) {
    return open(ProducerIds.ofUser(number++, user), 0);
  }

  private Refusal appendOf(String user) {
    long id = ProducerIds.ofUser(number++, user);
    return rig.append(SHARD, batch(id, 0, 0, 1)).refusal();
  }

  private int of(int tag) {
    return rig.tables().producersByOwner().getOrDefault(tag, 0);
  }

  @Test
  void aUserWhoOpensAllItCanLeavesRoomForAnother() {
    raise(FeatureLevel.NEWEST);
    times(MAX * 3 / 4, i -> assertThat(openOf("greedy")).isNull());
    Reply refused = rig.run(new DataCommand.OpenProducer(ProducerIds.ofUser(number, "greedy"), 0));
    assertThat(((Reply.Refused) refused).refusal()).isEqualTo(Refusal.OVERLOADED);
    assertThat(((Reply.Refused) refused).detail())
        .isEqualTo(
            "your user has 15000 of the 15000 producers that are remembered here: keep producers"
                + " open instead of opening others, and try again in a minute");
    assertThat(appendOf("greedy")).isEqualTo(Refusal.OVERLOADED);
    assertThat(openOf("shop")).isNull();
    assertThat(appendOf("shop")).isNull();
    assertThat(open(ProducerIds.ofMember(number++), 0)).isNull();
    assertThat(rig.tables().producersByOwner())
        .containsEntry(GREEDY, MAX * 3 / 4)
        .containsEntry(SHOP, 2);
  }

  /** Also those that were used before all of the other user's. */
  @Test
  void retentionTakesTheOldestOfWhoeverHasTheMost() {
    raise(FeatureLevel.NEWEST);
    long first = number;
    times(500, i -> assertThat(appendOf("shop")).isNull());
    rig.now += 10_000;
    times(MAX * 3 / 4 - 2_000, i -> assertThat(openOf("greedy")).isNull());
    rig.now += 10_000;
    long lately = number;
    times(50, i -> assertThat(openOf("greedy")).isNull());
    rig.run(new DataCommand.Retain());
    assertThat(of(SHOP)).isEqualTo(500);
    assertThat(of(GREEDY)).isEqualTo(RetainDecider.PRODUCERS_MAX - 500);
    assertThat(rig.append(SHARD, batch(ProducerIds.ofUser(first, "shop"), 0, 1, 1)).refusal())
        .as("what is known of it goes on")
        .isNull();
    assertThat(rig.tables().producer(ProducerIds.ofUser(lately, "greedy"))).isNotNull();
    assertThat(openOf("greedy")).as("there is room again").isNull();
    Map<Integer, Integer> before = Map.copyOf(rig.tables().producersByOwner());
    rig.reopen();
    assertThat(rig.tables().producersByOwner()).isEqualTo(before);
  }

  @Test
  void aProducerWithANameCountsForWhoOpensIt() {
    raise(FeatureLevel.NEWEST);
    long id = ProducerIds.ofName("greedy-1");
    assertThat(open(id, GREEDY)).isNull();
    assertThat(of(GREEDY)).isOne();
    rig.now += 1;
    rig.append(SHARD, batch(id, 0, 0, 1));
    rig.run(new DataCommand.OpenProducer(id, 1, SHOP));
    rig.reopen();
    assertThat(of(GREEDY)).isOne();
    assertThat(rig.tables().producer(id).epoch()).isOne();
    rig.pass(RetainDecider.PRODUCER_IDLE_MILLIS_MAX + 60_000);
    assertThat(rig.tables().producersByOwner()).isEmpty();
  }

  /** Whoever knows how ids are counted can send under ids without a tag. */
  @Test
  void producersOfNobodyKnownLeaveRoomForUsers() {
    raise(FeatureLevel.NEWEST);
    times(MAX / 10 * 9, i -> assertThat(open(number++, 0)).isNull());
    assertThat(open(number, 0)).isEqualTo(Refusal.OVERLOADED);
    times(1_000, i -> assertThat(openOf("shop")).isNull());
    assertThat(open(ProducerIds.ofMember(number++), 0)).isNull();
  }

  @Test
  void belowTheFeatureLevelItIsAsBefore() {
    raise(FeatureLevel.TABLE_OWNERS - 1);
    times(MAX, i -> assertThat(openOf("greedy")).isNull());
    assertThat(openOf("shop")).isEqualTo(Refusal.OVERLOADED);
    rig.run(new DataCommand.Retain());
    assertThat(of(GREEDY)).isEqualTo(RetainDecider.PRODUCERS_MAX);
  }
}
