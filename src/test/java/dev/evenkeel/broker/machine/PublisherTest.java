package dev.evenkeel.broker.machine;

import static dev.evenkeel.broker.machine.Rig.OTHER;
import static dev.evenkeel.broker.machine.Rig.SHARD;
import static dev.evenkeel.broker.machine.Rig.batch;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.decide.RetainDecider;
import dev.evenkeel.broker.state.BatchIndex;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.SpoolPublisher;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.storage.Store;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** What handlers publish: sequences have gaps, and go on from epoch to epoch. */
class PublisherTest {
  private static final Shard INPUT = new Shard(5, 3);

  private final Rig rig = Rig.opened();

  private Refusal open(long id, int epoch, boolean fresh) {
    Reply reply = rig.run(new DataCommand.OpenPublisher(id, epoch, "g", INPUT, fresh));
    return reply instanceof Reply.Refused refused ? refused.refusal() : null;
  }

  private Result publish(long id, int epoch, long offset, int count) {
    return rig.append(SHARD, batch(id, epoch, offset << 16 | 1, count));
  }

  @Test
  void anInputThatComesAgainPublishesNothingTwice() {
    assertThat(open(7, 1, true)).isNull();
    assertThat(publish(7, 1, 0, 2)).isEqualTo(new Result(null, 0));
    assertThat(publish(7, 1, 90, 3)).isEqualTo(new Result(null, 2));
    assertThat(publish(7, 1, 90, 3).ok()).isTrue();
    assertThat(publish(7, 1, 40, 1).ok()).isTrue();
    assertThat(open(7, 2, false)).isNull();
    assertThat(publish(7, 2, 90, 1).ok()).isTrue();
    assertThat(rig.tables().shard(SHARD).end()).isEqualTo(5);
    assertThat(publish(7, 2, 91, 1)).isEqualTo(new Result(null, 5));
    // Each shard by itself.
    assertThat(rig.append(OTHER, batch(7, 2, 40L << 16 | 1, 1))).isEqualTo(new Result(null, 0));
  }

  /** The shard may be sealed while the next owner handles these inputs again. */
  @Test
  void theNextOwnerLearnsWhatOpenShardsHave() {
    DataCommand again = new DataCommand.OpenPublisher(7, 2, "g", INPUT, false);
    open(7, 1, true);
    publish(7, 1, 99, 2);
    assertThat(rig.run(again)).isEqualTo(new Reply.OfSequences(Map.of(SHARD, (99L << 16) + 2)));
    rig.run(new DataCommand.SealShards(SHARD.topicId(), SHARD.shard() + 1));
    assertThat(rig.run(again)).isEqualTo(new Reply.OfSequences(Map.of(SHARD, (99L << 16) + 2)));
  }

  @Test
  void aFormerOwnerIsFencedBeforeTheNextPublishes() {
    open(7, 1, true);
    publish(7, 1, 0, 1);
    open(7, 2, false);
    assertThat(publish(7, 1, 1, 1)).isEqualTo(new Result(Refusal.PRODUCER_FENCED, 2));
    assertThat(open(7, 1, false)).isEqualTo(Refusal.PRODUCER_FENCED);
    // One who believes that nobody has published yet, and comes late.
    assertThat(open(8, 1, true)).isEqualTo(Refusal.PRODUCER_FENCED);
    assertThat(publish(8, 1, 1, 1).refusal()).isEqualTo(Refusal.UNKNOWN_PRODUCER);
  }

  private Refusal open(long id, String group, int shard) {
    Reply reply =
        rig.run(new DataCommand.OpenPublisher(id, 1, group, new Shard(5 + shard, 0), true));
    return reply instanceof Reply.Refused refused ? refused.refusal() : null;
  }

  /** Neither the spools of a user nor the handlers of a group keep those of others out. */
  @Test
  void whatHasOneTagLeavesRoomForOthers() {
    rig.run(new DataCommand.RaiseFeatureLevel(FeatureLevel.NEWEST));
    int max = Limits.PUBLISHERS_MAX;
    for (int i = 0; i < max / 4 * 3; i++) {
      long spool = ProducerIds.ofUser(i + 1, "greedy");
      long id = SpoolPublisher.id(spool);
      assertThat(open(id, SpoolPublisher.group(spool), 0)).isNull();
    }
    long spool = ProducerIds.ofUser(max, "greedy");
    assertThat(open(SpoolPublisher.id(spool), SpoolPublisher.group(spool), 0))
        .isEqualTo(Refusal.OVERLOADED);
    assertThat(open(ProducerIds.ofGroup(max, "g"), "g", 0)).isNull();
    rig.reopen();
    assertThat(open(SpoolPublisher.id(spool), SpoolPublisher.group(spool), 0))
        .isEqualTo(Refusal.OVERLOADED);
    int untagged = 0;
    while (open(2L * max + untagged, "former", untagged + 1) == null) {
      untagged++;
    }
    assertThat(rig.tables().publishers()).hasSize(max / 10 * 9);
    assertThat(open(1L << 62, DataCommand.OpenPublisher.DELAYED, 0)).isNull();
    assertThat(open(ProducerIds.ofGroup(max, "h"), "h", 0)).isNull();
  }

  @Test
  void aNewGenerationTakesThePlaceOfTheFormer() {
    open(7, 1, true);
    publish(7, 1, 100, 1);
    assertThat(open(8, 3, true)).isNull();
    assertThat(publish(8, 3, 0, 1)).isEqualTo(new Result(null, 1));
    assertThat(publish(7, 1, 101, 1).refusal()).isEqualTo(Refusal.UNKNOWN_PRODUCER);
    assertThat(rig.keys(Store.Table.PRODUCERS)).hasSize(2);
  }

  @Test
  void oneThatIsNotKnownIsToldSo() {
    assertThat(open(7, 1, false)).isEqualTo(Refusal.UNKNOWN_PRODUCER);
    assertThat(publish(7, 1, 0, 1).refusal()).isEqualTo(Refusal.UNKNOWN_PRODUCER);
    rig.append(SHARD, batch(9, 0, 0, 1));
    assertThat(open(9, 1, true)).isEqualTo(Refusal.INVALID);
    open(7, 1, true);
    assertThat(rig.run(new DataCommand.OpenProducer(7, 4))).isInstanceOf(Reply.Refused.class);
  }

  @Test
  void itIsKeptHoweverSilentAndGoesWithItsGroupOrInput() {
    open(7, 1, true);
    publish(7, 1, 3, 1);
    rig.now += 10 * RetainDecider.PRODUCER_IDLE_MILLIS_MAX;
    rig.run(new DataCommand.Retain());
    assertThat(publish(7, 1, 3, 1).ok()).isTrue();
    assertThat(rig.tables().shard(SHARD).end()).isEqualTo(1);
    rig.run(Commands.forgetLeases("h"));
    rig.run(new DataCommand.DropShards(4));
    assertThat(open(7, 2, false)).isNull();
    rig.run(Commands.forgetLeases("g", 1));
    assertThat(open(7, 2, false)).as("of a later life of the group").isNull();
    rig.run(new DataCommand.ForgetLeases("g", 9, SHARD.topicId()));
    assertThat(open(7, 2, false)).as("of another input").isNull();
    rig.run(Commands.forgetLeases("g"));
    assertThat(open(7, 3, false)).isEqualTo(Refusal.UNKNOWN_PRODUCER);
    assertThat(rig.keys(Store.Table.PRODUCERS)).isEmpty();
    open(8, 1, true);
    publish(8, 1, 3, 1);
    rig.run(Commands.openShards(5, "input", List.of(3), TopicConfig.DEFAULT));
    rig.run(new DataCommand.DropShards(5));
    assertThat(rig.keys(Store.Table.PRODUCERS)).isEmpty();
  }

  /**
   * Owners that die anywhere, and whose requests come late or twice: each input is published once,
   * in the order of inputs. Every third input publishes nothing.
   */
  @Property(tries = 200)
  void everyInputOnceAndInOrder(@ForAll @Size(80) List<@IntRange(min = 0, max = 9) Integer> steps) {
    Rig world = Rig.opened();
    long next = 0;
    long high = 0;
    int epoch = 1;
    world.run(new DataCommand.OpenPublisher(7, epoch, "g", INPUT, true));
    List<Batch> sent = new ArrayList<>();
    for (int step : steps) {
      if (step == 0) {
        epoch++;
        world.run(new DataCommand.OpenPublisher(7, epoch, "g", INPUT, false));
        next = Math.max(0, next - 4);
      } else if (step < 4 && !sent.isEmpty()) {
        world.append(SHARD, sent.get(step * 31 % sent.size()));
      } else {
        if (next % 3 != 2) {
          Batch batch = batch(7, epoch, next << 16 | 1, 1, next);
          sent.add(batch);
          world.append(SHARD, batch);
        }
        next++;
        high = Math.max(high, next);
      }
    }
    List<Long> expected = new ArrayList<>();
    for (long input = 0; input < high; input++) {
      if (input % 3 != 2) {
        expected.add(input);
      }
    }
    assertThat(inputs(world)).isEqualTo(expected);
  }

  /**
   * The inputs of all that was published, by their timestamps: the largest up to each message, so
   * that what is out of order or there twice shows.
   */
  private static List<Long> inputs(Rig world) {
    List<Long> inputs = new ArrayList<>();
    long end = world.tables().shard(SHARD).end();
    for (long offset = 0; offset < end; offset++) {
      long at = offset;
      inputs.add(world.data.read(store -> BatchIndex.at(store, SHARD, at).maxTimestamp()));
    }
    return inputs;
  }
}
