package dev.evenkeel.broker.machine;

import static dev.evenkeel.broker.machine.Rig.OTHER;
import static dev.evenkeel.broker.machine.Rig.SHARD;
import static dev.evenkeel.broker.machine.Rig.batch;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.AppendBody.Item;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.storage.Store;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AppendTest {
  private final Rig rig = Rig.opened();

  @Test
  void givesOffsetsInOrderAndTheLogIndex() {
    AppendResults results =
        rig.append(
            new Item(SHARD, batch(7, 0, 0, 3)),
            new Item(OTHER, batch(7, 0, 0, 2)),
            new Item(SHARD, batch(7, 0, 3, 1)));

    assertThat(results.logIndex()).isEqualTo(1);
    assertThat(results.results())
        .containsExactly(new Result(null, 0), new Result(null, 0), new Result(null, 3));
    assertThat(rig.tables().shard(SHARD).end()).isEqualTo(4);
  }

  @Test
  void knowsWhatIsNotThere() {
    assertThat(rig.append(new Shard(1, 9), batch(0, 0, 0, 1)).refusal())
        .isEqualTo(Refusal.UNKNOWN_SHARD);
    assertThat(rig.append(new Shard(9, 0), batch(0, 0, 0, 1)).refusal())
        .isEqualTo(Refusal.UNKNOWN_TOPIC);
  }

  @Test
  void answersRepeatsWithTheFirstResultAlsoWithinOneEntry() {
    rig.fill(SHARD, 5);
    assertThat(
            rig.append(
                    new Item(SHARD, batch(7, 0, 0, 3)),
                    new Item(SHARD, batch(7, 0, 0, 3)),
                    new Item(SHARD, batch(7, 0, 3, 1)))
                .results())
        .extracting(Result::value)
        .containsExactly(5L, 5L, 8L);
    assertThat(rig.append(SHARD, batch(7, 0, 3, 1)).value()).isEqualTo(8);
    assertThat(rig.tables().shard(SHARD).end()).isEqualTo(9);
  }

  @Test
  void countsARepeatThatIsForgottenAsTaken() {
    for (int i = 0; i <= Limits.BATCHES_REMEMBERED; i++) {
      rig.append(SHARD, batch(7, 0, i, 1));
    }
    assertThat(rig.append(SHARD, batch(7, 0, 0, 1)))
        .isEqualTo(new Result(null, Result.OFFSET_FORGOTTEN));
    assertThat(rig.append(SHARD, batch(7, 0, 1, 1))).isEqualTo(new Result(null, 1));
  }

  @Test
  void aGapStaysAGapForWhatFollows() {
    rig.append(SHARD, batch(7, 0, 0, 3));
    assertThat(
            rig.append(
                    new Item(SHARD, batch(7, 0, 5, 1)),
                    new Item(SHARD, batch(7, 0, 6, 1)),
                    new Item(SHARD, batch(7, 0, 3, 2)))
                .results())
        .containsExactly(
            new Result(Refusal.SEQUENCE_GAP, 3),
            new Result(Refusal.SEQUENCE_GAP, 3),
            new Result(null, 3));
    assertThat(rig.append(SHARD, batch(7, 0, 4, 3)))
        .as("a batch across the next sequence")
        .isEqualTo(new Result(Refusal.INVALID, 5));
  }

  @Test
  void epochsFence() {
    assertThat(rig.append(SHARD, batch(7, 3, 4, 1)).refusal()).isEqualTo(Refusal.UNKNOWN_PRODUCER);
    rig.append(SHARD, batch(7, 3, 0, 4));
    assertThat(rig.append(SHARD, batch(7, 4, 4, 1))).isEqualTo(new Result(Refusal.SEQUENCE_GAP, 0));
    assertThat(rig.append(OTHER, batch(7, 4, 0, 1)).ok()).isTrue();
    assertThat(rig.append(SHARD, batch(7, 3, 4, 1)))
        .isEqualTo(new Result(Refusal.PRODUCER_FENCED, 4));
    assertThat(rig.append(SHARD, batch(7, 4, 0, 1))).isEqualTo(new Result(null, 4));
    assertThat(rig.append(SHARD, batch(7, 4, -1, 1)).refusal()).isEqualTo(Refusal.INVALID);
  }

  @Test
  void openingAnEpochTellsTheLastSequencesAndFencesTheWholeGroup() {
    assertThat(open(7, 0)).isEqualTo(new Reply.OfSequences(Map.of()));
    rig.append(SHARD, batch(7, 0, 0, 3));
    rig.append(OTHER, batch(7, 0, 0, 1));

    Reply first = open(7, 1);
    assertThat(first).isEqualTo(new Reply.OfSequences(Map.of(SHARD, 2L, OTHER, 0L)));
    assertThat(rig.append(OTHER, batch(7, 0, 1, 1)).refusal()).isEqualTo(Refusal.PRODUCER_FENCED);
    rig.append(SHARD, batch(7, 1, 0, 1));
    assertThat(open(7, 1)).as("a repeat, even after the epoch was used").isEqualTo(first);
    assertThat(open(7, 2)).isEqualTo(new Reply.OfSequences(Map.of(SHARD, 0L)));
    assertThat(((Reply.Refused) open(7, 1)).refusal()).isEqualTo(Refusal.PRODUCER_FENCED);
    assertThat(((Reply.Refused) open(0, 1)).refusal()).isEqualTo(Refusal.INVALID);
  }

  private Reply open(long id, int epoch) {
    return rig.run(new DataCommand.OpenProducer(id, epoch));
  }

  @Test
  void droppedShardsStayDropped() {
    rig.append(SHARD, batch(7, 0, 0, 3));
    rig.grant("g", SHARD, "m", 0);
    rig.run(new DataCommand.DropShards(1));

    assertThat(rig.append(SHARD, batch(7, 0, 3, 1)).refusal()).isEqualTo(Refusal.UNKNOWN_TOPIC);
    assertThat(rig.tables().shards()).isEmpty();
    assertThat(rig.tables().lease("g", SHARD)).isNull();
    assertThat(rig.keys(Store.Table.INDEX)).isEmpty();
    assertThat(rig.keys(Store.Table.LEASES)).isEmpty();
    Reply late = rig.run(Commands.openShards(1, "orders", List.of(0), TopicConfig.DEFAULT));
    assertThat(((Reply.Refused) late).refusal()).isEqualTo(Refusal.UNKNOWN_TOPIC);
    assertThat(rig.run(new DataCommand.DropShards(1))).isEqualTo(new Reply.OfNumber(1));
  }
}
