package dev.evenkeel.broker.machine;

import static dev.evenkeel.broker.machine.Rig.SHARD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.state.FailureCounts;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Generation;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.storage.Store;
import java.util.List;
import org.junit.jupiter.api.Test;

class ResetTest {
  /** What a message of one of {@link Rig#fill}'s batches counts for. */
  private static long share(int count) {
    return (Rig.batch(0, 0, 0, count).length() + count - 1) / count;
  }

  private final Rig rig = Rig.opened();

  private Lease reset(long epoch, StartAt to) {
    return ((Reply.OfLease) rig.run(new DataCommand.ResetLease("g", SHARD, epoch, to))).lease();
  }

  private Refusal refusal(DataCommand command) {
    return rig.run(command) instanceof Reply.Refused refused ? refused.refusal() : null;
  }

  @Test
  void takesTheShardAndItsStateAndGoesOnElsewhere() {
    rig.fill(SHARD, 10);
    rig.grant("g", SHARD, "a", 0);
    rig.run(new DataCommand.Commit("g", SHARD, 1, 8, 6, new byte[] {7}));
    rig.run(new DataCommand.SetPublisher("g", SHARD, 1, 42));

    Lease lease = reset(1, StartAt.offset(3));

    assertThat(lease.epoch()).isEqualTo(2);
    assertThat(lease.owned()).isFalse();
    assertThat(lease.committed()).isEqualTo(3);
    assertThat(lease.state()).isNull();
    assertThat(lease.generation()).isEqualTo(new Generation(1, 0));
    assertThat(rig.data.leaseWithState("g", SHARD)).isEqualTo(lease);
    assertThat(rig.keys(Store.Table.LEASES)).hasSize(1);
    // Nothing of the former owner gets through any more.
    assertThat(refusal(Commands.commit("g", SHARD, 1, 9))).isEqualTo(Refusal.FENCED);
    assertThat(refusal(Commands.commit("g", SHARD, 2, 9))).isEqualTo(Refusal.FENCED);
    assertThat(refusal(new DataCommand.Release("g", SHARD, 1, 9, -1, null)))
        .isEqualTo(Refusal.FENCED);
    assertThat(rig.grant("g", SHARD, "a", 2).committed()).isEqualTo(3);
  }

  @Test
  void isACompareAndSet() {
    rig.fill(SHARD, 4);
    rig.grant("g", SHARD, "a", 0);
    assertThat(refusal(new DataCommand.ResetLease("g", SHARD, 0, StartAt.EARLIEST)))
        .isEqualTo(Refusal.FENCED);
    reset(1, StartAt.LATEST);
    assertThat(refusal(new DataCommand.ResetLease("g", SHARD, 1, StartAt.EARLIEST)))
        .isEqualTo(Refusal.FENCED);
    assertThat(rig.tables().lease("g", SHARD).committed()).isEqualTo(4);
  }

  @Test
  void namesTheRangeOfAShard() {
    rig.fill(SHARD, 4);
    Reply reply = rig.run(new DataCommand.ResetLease("g", SHARD, 0, StartAt.offset(5)));
    assertThat(((Reply.Refused) reply).refusal()).isEqualTo(Refusal.OFFSET_OUT_OF_RANGE);
    assertThat(((Reply.Refused) reply).detail()).contains("0 to 4");
    assertThat(rig.tables().lease("g", SHARD)).isNull();
  }

  @Test
  void whatComesAgainDoesNotWaitTooAndDeadLettersStay() {
    rig.fill(SHARD, 20);
    rig.grant("g", SHARD, "a", 0);
    rig.run(
        new DataCommand.RecordOutcomes(
            "g",
            SHARD,
            1,
            List.of(
                failed(2, Outcome.Way.MOVED, 5),
                new Outcome.Parked(6, 5, null),
                failed(7, Outcome.Way.MOVED, 0),
                failed(8, Outcome.Way.HELD, 0),
                failed(9, Outcome.Way.DEAD, 0))));
    LeaseKey key = new LeaseKey(SHARD, "g");
    assertThat(rig.tables().failures(key))
        .isEqualTo(new FailureCounts(2, 1, 1, 1, 4, 3 * share(20)));

    reset(1, StartAt.offset(6));

    assertThat(rig.tables().failures(key)).isEqualTo(new FailureCounts(1, 0, 0, 1, 0, share(20)));
    // One entry with its message, its time and its lane, and the dead letter.
    assertThat(rig.keys(Store.Table.FAILURES)).hasSize(5);
  }

  @Test
  void aDeadLetterThatCameAgainAndWaitsIsNotPutThereTwice() {
    rig.fill(SHARD, 10);
    rig.grant("g", SHARD, "a", 0);
    rig.run(new DataCommand.RecordOutcomes("g", SHARD, 1, List.of(failed(4, Outcome.Way.DEAD, 0))));
    reset(1, StartAt.offset(4));
    rig.grant("g", SHARD, "a", 2);
    rig.run(
        new DataCommand.RecordOutcomes("g", SHARD, 3, List.of(failed(4, Outcome.Way.MOVED, 0))));

    rig.run(new DataCommand.ReplayDeadLetters("g", SHARD, List.of(4L)));

    LeaseKey key = new LeaseKey(SHARD, "g");
    assertThat(rig.tables().failures(key)).isEqualTo(new FailureCounts(1, 0, 0, 0, 1, share(10)));
    rig.run(new DataCommand.RecordOutcomes("g", SHARD, 3, List.of(new Outcome.Settled(4))));
    assertThat(rig.tables().failures(key)).isEqualTo(new FailureCounts(0, 0, 0, 0, 1, 0));
    assertThat(rig.keys(Store.Table.FAILURES)).as("the mark alone").hasSize(1);
  }

  private static Outcome failed(long offset, Outcome.Way way, long lane) {
    return new Outcome.Failed(offset, 1, way, 1_000, lane, "no", null);
  }

  @Test
  void aStateMovesWithItsOffsetAndNeverBack() {
    rig.fill(SHARD, 10);
    rig.grant("g", SHARD, "a", 0);
    rig.run(new DataCommand.Commit("g", SHARD, 1, 5, 5, new byte[] {5}));
    rig.run(new DataCommand.Commit("g", SHARD, 1, 7, 4, new byte[] {4}));
    Lease lease = rig.data.leaseWithState("g", SHARD);
    assertThat(lease.committed()).isEqualTo(7);
    assertThat(lease.stateOffset()).isEqualTo(5);
    assertThat(lease.state()).containsExactly(5);
    assertThat(lease.floor()).isEqualTo(5);
    assertThat(refusal(new DataCommand.Commit("g", SHARD, 1, 8, 11, new byte[0])))
        .isEqualTo(Refusal.INVALID);
    assertThat(refusal(new DataCommand.Commit("g", SHARD, 1, 8, 8, new byte[(1 << 20) + 1])))
        .isEqualTo(Refusal.TOO_LARGE);
  }

  @Test
  void theFirstPublisherOfAGenerationStays() {
    rig.grant("g", SHARD, "a", 0);
    rig.run(new DataCommand.SetPublisher("g", SHARD, 1, 42));
    Reply second = rig.run(new DataCommand.SetPublisher("g", SHARD, 1, 43));
    assertThat(((Reply.OfLease) second).lease().generation()).isEqualTo(new Generation(0, 42));
    assertThat(refusal(new DataCommand.SetPublisher("g", SHARD, 2, 44))).isEqualTo(Refusal.FENCED);
    assertThat(rig.grant("g", SHARD, "b", 1).generation()).isEqualTo(new Generation(0, 42));
  }
}
