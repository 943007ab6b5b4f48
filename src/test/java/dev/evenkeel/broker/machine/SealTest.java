package dev.evenkeel.broker.machine;

import static dev.evenkeel.broker.machine.Rig.OTHER;
import static dev.evenkeel.broker.machine.Rig.SHARD;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.List;
import org.junit.jupiter.api.Test;

class SealTest {
  private final Rig rig = Rig.opened();

  private void seal() {
    assertThat(rig.run(new DataCommand.SealShards(SHARD.topicId(), SHARD.shard() + 1)))
        .isEqualTo(Reply.DONE);
  }

  /** From here on the empty state of the beginning is none. */
  private void raiseLevel() {
    rig.run(new DataCommand.RaiseFeatureLevel(FeatureLevel.SUBSCRIPTIONS));
  }

  private Lease lease() {
    return rig.tables().lease("g", SHARD);
  }

  private void finish(long epoch, long offset) {
    rig.run(new DataCommand.Release("g", SHARD, epoch, offset, DataCommand.Release.FINISHED, null));
  }

  @Test
  void aSealedShardTakesNothingAndKnowsWhatItTook() {
    assertThat(rig.append(SHARD, Rig.batch(7, 0, 0, 3))).isEqualTo(new Result(null, 0));
    seal();
    assertThat(rig.append(SHARD, Rig.batch(7, 0, 0, 3))).isEqualTo(new Result(null, 0));
    assertThat(rig.append(SHARD, Rig.batch(7, 0, 3, 2)).refusal()).isEqualTo(Refusal.SEALED);
    assertThat(rig.append(SHARD, Rig.batch(7, 0, 5, 2)).refusal()).isEqualTo(Refusal.SEQUENCE_GAP);
    assertThat(rig.append(SHARD, Rig.batch(0, 0, 0, 1)).refusal()).isEqualTo(Refusal.SEALED);
    assertThat(rig.tables().shard(SHARD).end()).isEqualTo(3);
  }

  /** A producer that was away asks again for what it had sent. */
  @Test
  void aDroppedShardStillTellsWhatItTook() {
    rig.append(SHARD, Rig.batch(7, 0, 0, 3));
    seal();
    empty();
    rig.run(new DataCommand.DropSealed(SHARD.topicId(), SHARD.shard() + 1, 0));
    assertThat(rig.tables().shard(SHARD)).isNull();
    assertThat(rig.append(SHARD, Rig.batch(7, 0, 0, 3))).isEqualTo(new Result(null, 0));
    assertThat(rig.append(SHARD, Rig.batch(7, 0, 3, 2)).refusal()).isEqualTo(Refusal.UNKNOWN_SHARD);
    assertThat(rig.append(SHARD, Rig.batch(7, 0, 5, 2)).refusal()).isEqualTo(Refusal.SEQUENCE_GAP);
    assertThat(rig.append(SHARD, Rig.batch(0, 0, 0, 1)).refusal()).isEqualTo(Refusal.UNKNOWN_SHARD);
    assertThat(((Reply.OfSequences) rig.run(new DataCommand.OpenProducer(7, 1))).lastSequences())
        .containsExactly(entry(SHARD, 2L));
    rig.run(new DataCommand.DropSealed(SHARD.topicId(), SHARD.shard() + 1, SHARD.shard() + 1));
    assertThat(rig.tables().ringsIn(SHARD.topicId())).isEmpty();
  }

  /** The step of a leader that was deposed meanwhile, after others have gone on. */
  @Test
  void aDroppedShardIsNotMadeAgain() {
    seal();
    empty();
    rig.run(new DataCommand.DropSealed(SHARD.topicId(), SHARD.shard() + 1, 0));
    List<Integer> all = List.of(SHARD.shard(), OTHER.shard(), OTHER.shard() + 1);
    rig.run(
        new DataCommand.OpenShards(
            SHARD.topicId(), "orders", all, TopicConfig.DEFAULT, 0, List.of("g"), SHARD.shard()));
    assertThat(rig.tables().shard(SHARD)).isNull();
    assertThat(rig.tables().lease("g", SHARD)).isNull();
    assertThat(rig.append(SHARD, Rig.batch(0, 0, 0, 1)).refusal()).isEqualTo(Refusal.UNKNOWN_SHARD);
    assertThat(rig.tables().shardsOf(SHARD.topicId())).hasSize(2);
  }

  /** Entries of former feature levels. */
  @Test
  void aDroppedShardThatIsNotToBeRememberedTellsNothing() {
    rig.append(SHARD, Rig.batch(7, 0, 0, 3));
    seal();
    empty();
    rig.run(
        new DataCommand.DropSealed(
            SHARD.topicId(), SHARD.shard() + 1, DataCommand.DropSealed.EVERYTHING));
    assertThat(rig.tables().ringsIn(SHARD.topicId())).isEmpty();
    assertThat(rig.append(SHARD, Rig.batch(7, 0, 0, 3)).refusal()).isEqualTo(Refusal.UNKNOWN_SHARD);
  }

  /** By size: at most 0 bytes stay. */
  private void empty() {
    rig.run(
        new DataCommand.ConfigureShards(
            SHARD.topicId(), new TopicConfig(TopicConfig.DEFAULT.retentionMillis(), -1, 0)));
    rig.run(new DataCommand.Retain());
    assertThat(rig.tables().shard(SHARD).start()).isEqualTo(rig.tables().shard(SHARD).end());
  }

  @Test
  void aLeaseEndsAtTheEndOfASealedShardAlone() {
    rig.fill(SHARD, 4);
    rig.grant("g", SHARD, "a", 0);
    assertThat(
            rig.run(new DataCommand.Release("g", SHARD, 1, 4, DataCommand.Release.FINISHED, null)))
        .isInstanceOf(Reply.Refused.class);
    seal();
    rig.run(Commands.commit("g", SHARD, 1, 3));
    finish(1, 3);
    assertThat(lease().passed()).as("a message is left").isFalse();
    rig.grant("g", SHARD, "a", 1);
    rig.run(new DataCommand.Release("g", SHARD, 2, 4, -1, null));
    assertThat(lease().passed()).as("the owner did not say so").isFalse();
    rig.grant("g", SHARD, "a", 2);
    finish(3, 4);
    assertThat(lease().finished()).isTrue();
  }

  @Test
  void aStateMustBeThatOfTheEnd() {
    rig.fill(SHARD, 4);
    rig.grant("g", SHARD, "a", 0);
    seal();
    rig.run(new DataCommand.Release("g", SHARD, 1, 4, 2, new byte[] {1}));
    assertThat(lease().passed()).isFalse();
    rig.grant("g", SHARD, "a", 1);
    rig.run(new DataCommand.Release("g", SHARD, 2, 4, 4, new byte[] {2}));
    assertThat(lease().finished()).isTrue();
    assertThat(rig.data.leaseWithState("g", SHARD).state()).containsExactly(2);
  }

  @Test
  void whatIsToBeTriedAgainHoldsTheLeaseAndWhatIsPutBackOpensIt() {
    rig.fill(SHARD, 2);
    rig.grant("g", SHARD, "a", 0);
    seal();
    rig.run(
        new DataCommand.RecordOutcomes(
            "g", SHARD, 1, List.of(new Outcome.Failed(1, 1, Outcome.Way.MOVED, 5, 0, "x", null))));
    finish(1, 2);
    assertThat(lease().passed()).isFalse();
    rig.grant("g", SHARD, "a", 1);
    rig.run(
        new DataCommand.RecordOutcomes(
            "g", SHARD, 2, List.of(new Outcome.Failed(1, 2, Outcome.Way.DEAD, 0, 0, "x", null))));
    finish(2, 2);
    assertThat(lease().finished()).isTrue();
    rig.run(new DataCommand.ReplayDeadLetters("g", SHARD, List.of(1L)));
    assertThat(lease().stage()).isEqualTo(Lease.Stage.PASSED);
    assertThat(rig.grant("g", SHARD, "a", 2).stage()).isEqualTo(Lease.Stage.PASSED);
  }

  /**
   * The dispatcher may not know yet that the shard is finished: an owner would begin with the state
   * of the shards before it, while owners of those behind it have begun without.
   */
  @Test
  void whatIsFinishedTakesNoOwner() {
    rig.run(new DataCommand.OpenLease("g", SHARD, StartAt.EARLIEST));
    long epoch = lease().epoch();
    seal();
    assertThat(lease().finished()).isTrue();
    assertThat(rig.run(Commands.grant("g", SHARD, "a", "a-1", epoch, StartAt.EARLIEST)))
        .isInstanceOfSatisfying(
            Reply.Refused.class, no -> assertThat(no.refusal()).isEqualTo(Refusal.FENCED));
    assertThat(lease().finished()).isTrue();
  }

  /** What the shards before it have left counts. */
  @Test
  void theEmptyStateOfTheBeginningIsNone() {
    raiseLevel();
    rig.grant("g", SHARD, "a", 0);
    rig.run(new DataCommand.Release("g", SHARD, 1, 0, 0, new byte[0]));
    assertThat(lease().stateOffset()).isEqualTo(-1);
    seal();
    assertThat(lease().finished()).isTrue();
    assertThat(rig.data.leaseWithState("g", SHARD).state()).isNull();
  }

  @Test
  void soItIsIfNoMessageHasChangedIt() {
    raiseLevel();
    rig.fill(SHARD, 4);
    rig.grant("g", SHARD, "a", 0);
    rig.run(new DataCommand.Commit("g", SHARD, 1, 4, 0, null));
    assertThat(lease().stateOffset()).isZero();
    seal();
    finish(1, 4);
    assertThat(lease().finished()).isTrue();
    assertThat(rig.data.leaseWithState("g", SHARD).state()).isNull();
    assertThat(lease().floor()).as("nobody needs the messages").isEqualTo(4);
  }

  @Test
  void aStateThatTheLastMessagesHaveNotChangedIsThatOfTheEnd() {
    raiseLevel();
    rig.fill(SHARD, 4);
    rig.grant("g", SHARD, "a", 0);
    rig.run(new DataCommand.Commit("g", SHARD, 1, 2, 2, new byte[] {7}));
    seal();
    finish(1, 4);
    assertThat(lease().finished()).isTrue();
    assertThat(lease().stateOffset()).isEqualTo(4);
    assertThat(rig.data.leaseWithState("g", SHARD).state()).containsExactly(7);
    assertThat(lease().floor()).isEqualTo(4);
  }
}
