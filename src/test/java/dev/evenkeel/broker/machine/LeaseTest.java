package dev.evenkeel.broker.machine;

import static dev.evenkeel.Loops.times;
import static dev.evenkeel.broker.machine.Rig.OTHER;
import static dev.evenkeel.broker.machine.Rig.SHARD;
import static dev.evenkeel.broker.machine.Rig.batch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.evenkeel.Fails;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Crashes;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.DataCommand.CommitMany;
import dev.evenkeel.protocol.DataCommand.TakeSteps;
import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Reply.OfCommits.RefusedCommit;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchPacker;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class LeaseTest {
  private final Rig rig = Rig.opened();

  private Refusal refusal(DataCommand command) {
    return rig.run(command) instanceof Reply.Refused refused ? refused.refusal() : null;
  }

  private Refusal commit(long epoch, long offset) {
    return refusal(Commands.commit("g", SHARD, epoch, offset));
  }

  private Refusal release(long epoch, long offset, long stateOffset, byte[] state) {
    return refusal(new DataCommand.Release("g", SHARD, epoch, offset, stateOffset, state));
  }

  private Lease lease() {
    return rig.tables().lease("g", SHARD);
  }

  @Test
  void grantsByCompareAndSet() {
    Lease first = rig.grant("g", SHARD, "a", 0);
    assertThat(first.epoch()).isEqualTo(1);
    assertThat(first.owner()).isEqualTo("a");
    assertThat(refusal(Commands.grant("g", SHARD, "b", "b-1", 0, StartAt.EARLIEST)))
        .isEqualTo(Refusal.FENCED);
    assertThat(refusal(Commands.grant("h", SHARD, "b", "b-1", 1, StartAt.EARLIEST)))
        .isEqualTo(Refusal.FENCED);
    assertThat(rig.grant("g", SHARD, "b", 1).epoch()).isEqualTo(2);
    assertThat(refusal(Commands.grant("g", new Shard(1, 9), "b", "i", 0, StartAt.EARLIEST)))
        .isEqualTo(Refusal.UNKNOWN_SHARD);
    assertThat(refusal(Commands.grant("g", SHARD, "b", "", 2, StartAt.EARLIEST)))
        .isEqualTo(Refusal.INVALID);
    assertThat(refusal(Commands.grant(" ", SHARD, "b", "i", 2, StartAt.EARLIEST)))
        .isEqualTo(Refusal.INVALID);
  }

  private DataCommand.Grant grant(long expectedEpoch, long ownerTimeoutMillis) {
    return new DataCommand.Grant(
        "g", SHARD, "a", "a-1", expectedEpoch, StartAt.EARLIEST, 0, ownerTimeoutMillis);
  }

  @Test
  void theLeaseKnowsForHowLongItsOwnerMayBeSilent() {
    rig.run(grant(0, 30_000));
    assertThat(lease().ownerTimeoutMillis()).isEqualTo(30_000);
    commit(1, 0);
    rig.run(new DataCommand.SetDrain("g", SHARD, 1, null));
    assertThat(lease().ownerTimeoutMillis()).isEqualTo(30_000);
    rig.run(grant(1, 5_000));
    assertThat(lease().ownerTimeoutMillis()).isEqualTo(5_000);
    assertThat(refusal(grant(2, 0))).isEqualTo(Refusal.INVALID);
    assertThat(refusal(grant(2, Limits.MEMBER_TIMEOUT_MILLIS_MAX + 1))).isEqualTo(Refusal.INVALID);
  }

  private void raiseFeatureLevel() {
    rig.run(new DataCommand.RaiseFeatureLevel(FeatureLevel.CRASHES));
  }

  private void begins(long epoch, long offset) {
    Outcome begun = new Outcome.Begun(offset, false);
    rig.run(new DataCommand.RecordOutcomes("g", SHARD, epoch, List.of(begun)));
  }

  private void saysDied(long epoch, long offset, int deaths, long until) {
    rig.run(recordDied(epoch, offset, deaths, until));
  }

  private static DataCommand recordDied(long epoch, long offset, int deaths, long until) {
    Outcome died = new Outcome.Died(offset, deaths, until);
    return new DataCommand.RecordOutcomes("g", SHARD, epoch, List.of(died));
  }

  private void levelGrant(String owner, long expectedEpoch) {
    rig.run(
        new DataCommand.Grant(
            "g",
            SHARD,
            owner,
            owner + "-1",
            expectedEpoch,
            StartAt.EARLIEST,
            expectedEpoch + 1,
            30_000));
    assertThat(lease().owner()).isEqualTo(owner);
  }

  /** Whether it ends in good order, or with its node. */
  @Test
  void whatALevelDispatcherSaysOfDeathsIsKnownToThoseAfterIt() {
    raiseFeatureLevel();
    rig.fill(SHARD, 20);
    levelGrant("dispatcher@n1", 0);
    commit(1, 4);
    saysDied(1, 6, 2, 9);
    assertThat(lease().crashes()).isEqualTo(new Crashes(6, 2, 9, -1));
    rig.run(new DataCommand.Release("g", SHARD, 1, 5, -1, null));
    levelGrant("dispatcher@n2", 1);
    assertThat(lease().crashes()).isEqualTo(new Crashes(6, 2, 9, -1));
    rig.reopen();
    levelGrant("dispatcher@n3", 2);
    assertThat(lease().crashes()).as("it handles nothing").isEqualTo(new Crashes(6, 2, 9, -1));

    saysDied(3, 7, 4, 8);
    saysDied(3, 7, 3, 8);
    assertThat(lease().crashes()).as("repeated late").isEqualTo(new Crashes(7, 4, 8, -1));
    assertThat(refusal(recordDied(2, 7, 5, 8))).isEqualTo(Refusal.FENCED);
    commit(3, 8);
    assertThat(lease().crashes()).as("it is over").isNull();
    saysDied(3, 7, 5, 8);
    assertThat(lease().crashes()).isNull();
    assertThat(refusal(recordDied(3, 9, 0, 10))).isEqualTo(Refusal.INVALID);
    assertThat(refusal(recordDied(3, 9, 1, 9))).isEqualTo(Refusal.INVALID);
    assertThat(refusal(recordDied(3, 9, 1, 21))).isEqualTo(Refusal.INVALID);
  }

  /** Progress of the group says nothing of a message that waits in the log for another attempt. */
  @Test
  void deathsOfAMessageThatWaitsForAnotherAttemptAreKeptForAWhile() {
    raiseFeatureLevel();
    rig.fill(SHARD, 20);
    levelGrant("dispatcher@n1", 0);
    Outcome moved = new Outcome.Failed(2, 1, Outcome.Way.MOVED, 1_000, Outcome.NO_KEY, "e", null);
    rig.run(new DataCommand.RecordOutcomes("g", SHARD, 1, List.of(moved)));
    commit(1, 6);
    saysDied(1, 2, 3, 3);
    commit(1, 12);
    assertThat(lease().crashes()).isEqualTo(new Crashes(2, 3, 20, -1));
  }

  /** A message that kills its consumer is found although no message is marked before it begins. */
  @Test
  void deathsWithoutProgressAreCountedAndThenThoseOfTheMessageThatHadBegun() {
    raiseFeatureLevel();
    rig.fill(SHARD, 20);
    rig.grant("g", SHARD, "a", 0);
    commit(1, 4);
    rig.grant("g", SHARD, "b", 1);
    assertThat(lease().crashes()).isEqualTo(new Crashes(4, 1, 20, -1));
    rig.grant("g", SHARD, "c", 2);
    assertThat(lease().crashes()).isEqualTo(new Crashes(4, 2, 20, -1));
    assertThat(lease().crashes().careful()).isTrue();

    commit(3, 7);
    rig.grant("g", SHARD, "d", 3);
    assertThat(lease().crashes()).as("nothing had begun").isEqualTo(new Crashes(4, 2, 20, -1));
    begins(4, 7);
    rig.reopen();
    rig.grant("g", SHARD, "e", 4);
    assertThat(lease().crashes()).as("another one").isEqualTo(new Crashes(7, 2, 20, -1));
    begins(5, 7);
    rig.grant("g", SHARD, "f", 5);
    assertThat(lease().crashes()).isEqualTo(new Crashes(7, 3, 20, -1));
    begins(6, 7);
    var failed = new Outcome.Failed(7, 1, Outcome.Way.HELD, 1_000, Outcome.NO_KEY, "broken", null);
    rig.run(new DataCommand.RecordOutcomes("g", SHARD, 6, List.of(failed)));
    rig.grant("g", SHARD, "h", 6);
    assertThat(lease().crashes()).as("it had ended").isEqualTo(new Crashes(7, 3, 20, -1));
    begins(7, 7);
    commit(7, 8);
    rig.grant("g", SHARD, "i", 7);
    assertThat(lease().crashes()).as("and here, too").isEqualTo(new Crashes(7, 3, 20, -1));
    assertThat(commit(8, 20)).isNull();
    assertThat(lease().crashes()).as("enough progress").isNull();
  }

  /** Machines die, and rolling restarts happen: none of that may lose a message. */
  @Test
  void whatIsNotTheDeathOfAnOwnerWithoutProgressIsNotCounted() {
    raiseFeatureLevel();
    rig.grant("g", SHARD, "a", 0);
    rig.grant("g", SHARD, "b", 1);
    assertThat(lease().crashes()).as("there was nothing to handle").isNull();
    rig.fill(SHARD, 20);
    rig.grant("g", SHARD, "c", 2);
    assertThat(lease().crashes().count()).isEqualTo(1);
    commit(3, 1);
    assertThat(lease().crashes()).as("progress").isNull();
    assertThat(release(3, 2, -1, null)).isNull();
    rig.grant("g", SHARD, "d", 3);
    assertThat(lease().crashes()).as("a release").isNull();
    rig.run(new DataCommand.SetDrain("g", SHARD, 4, new Drain("e", 1, null)));
    rig.grant("g", SHARD, "e", 4);
    assertThat(lease().crashes()).as("a handover that took too long").isNull();
    rig.run(Commands.grant("h", SHARD, "dispatcher@n1", "i1", 0, StartAt.EARLIEST, 1));
    rig.run(Commands.grant("h", SHARD, "dispatcher@n2", "i2", 1, StartAt.EARLIEST, 2));
    assertThat(rig.tables().lease("h", SHARD).crashes()).as("a level dispatcher").isNull();
    rig.run(Commands.grant("i", SHARD, "m", "m-1", 0, StartAt.EARLIEST, 1));
    rig.run(Commands.grant("i", SHARD, "m", "m-1", 1, StartAt.EARLIEST, 2));
    assertThat(rig.tables().lease("i", SHARD).crashes()).as("the same run at a term").isNull();
    rig.grant("g", SHARD, "f", 5);
    rig.grant("g", SHARD, "k", 6);
    assertThat(lease().crashes().count()).isEqualTo(2);
    rig.run(new DataCommand.ResetLease("g", SHARD, 7, StartAt.offset(2)));
    assertThat(lease().crashes()).as("a reset").isNull();
  }

  @Test
  void beforeItsFeatureLevelNoDeathIsCounted() {
    rig.fill(SHARD, 20);
    rig.grant("g", SHARD, "a", 0);
    rig.grant("g", SHARD, "b", 1);
    assertThat(lease().crashes()).isNull();
  }

  /** A message that waits in the log for its next attempt lies below the committed offset. */
  @Test
  void aRetryThatKillsItsOwnerIsFoundToo() {
    raiseFeatureLevel();
    rig.fill(SHARD, 20);
    rig.grant("g", SHARD, "a", 0);
    var failed = new Outcome.Failed(3, 1, Outcome.Way.MOVED, 1_000, Outcome.NO_KEY, "broken", null);
    rig.run(new DataCommand.RecordOutcomes("g", SHARD, 1, List.of(failed)));
    commit(1, 20);
    rig.grant("g", SHARD, "b", 1);
    rig.grant("g", SHARD, "c", 2);
    assertThat(lease().crashes()).isEqualTo(new Crashes(20, 2, 21, -1));
    assertThat(lease().crashes().careful()).isTrue();
    begins(3, 3);
    rig.grant("g", SHARD, "d", 3);
    begins(4, 3);
    rig.grant("g", SHARD, "e", 4);
    assertThat(lease().crashes()).isEqualTo(new Crashes(3, 3, 21, -1));
  }

  /** Other messages of the shard are handled meanwhile, so the group makes progress. */
  @Test
  void aRetryThatKillsItsOwnersBesideProgressIsFoundToo() {
    raiseFeatureLevel();
    rig.fill(SHARD, 20);
    rig.grant("g", SHARD, "a", 0);
    fails(1, 3, Outcome.Way.MOVED);
    fails(1, 5, Outcome.Way.MOVED);
    commit(1, 8);
    rig.grant("g", SHARD, "b", 1);
    assertThat(lease().crashes()).isEqualTo(new Crashes(8, 1, 20, 3));
    commit(2, 12);
    rig.grant("g", SHARD, "c", 2);
    assertThat(lease().crashes()).isEqualTo(new Crashes(3, 2, 20, -1));
    begins(3, 3);
    rig.grant("g", SHARD, "d", 3);
    assertThat(lease().crashes()).isEqualTo(new Crashes(3, 3, 20, -1));
  }

  /** What has ended after a death was not the reason, and another death is another one. */
  @Test
  void aRetryThatHasEndedIsNotSuspectedAnyMore() {
    raiseFeatureLevel();
    rig.fill(SHARD, 20);
    rig.grant("g", SHARD, "a", 0);
    fails(1, 3, Outcome.Way.MOVED);
    commit(1, 8);
    rig.grant("g", SHARD, "b", 1);
    rig.run(new DataCommand.RecordOutcomes("g", SHARD, 2, List.of(new Outcome.Settled(3))));
    commit(2, 12);
    assertThat(lease().crashes()).isNull();
    fails(2, 15, Outcome.Way.MOVED);
    rig.grant("g", SHARD, "c", 2);
    assertThat(lease().crashes()).isEqualTo(new Crashes(12, 1, 20, 15));
  }

  /** A handover says nothing about what the former owner had begun. */
  @Test
  void whatHadBegunIsOverWhenTheShardIsGrantedWithoutADeath() {
    raiseFeatureLevel();
    rig.fill(SHARD, 20);
    rig.grant("g", SHARD, "a", 0);
    rig.grant("g", SHARD, "b", 1);
    rig.grant("g", SHARD, "c", 2);
    begins(3, 0);
    rig.run(new DataCommand.SetDrain("g", SHARD, 3, new Drain("d", 1, null)));
    rig.grant("g", SHARD, "d", 3);
    rig.grant("g", SHARD, "e", 4);
    assertThat(lease().crashes()).as("nothing had begun").isEqualTo(new Crashes(0, 2, 20, -1));
  }

  private void fails(long epoch, long offset, Outcome.Way way) {
    Outcome failed = new Outcome.Failed(offset, 1, way, 1_000, Outcome.NO_KEY, "broken", null);
    rig.run(new DataCommand.RecordOutcomes("g", SHARD, epoch, List.of(failed)));
  }

  @Test
  void startsWhereItIsTold() {
    rig.append(SHARD, batch(0, 0, 0, 10, 1000));
    rig.append(SHARD, batch(0, 0, 0, 10, 500));
    rig.append(SHARD, batch(0, 0, 0, 10, 2000));
    assertThat(rig.grant("a", SHARD, "m", 0, StartAt.EARLIEST).committed()).isZero();
    assertThat(rig.grant("b", SHARD, "m", 0, StartAt.LATEST).committed()).isEqualTo(30);
    assertThat(rig.grant("c", SHARD, "m", 0, StartAt.offset(12)).committed()).isEqualTo(12);
    assertThat(rig.grant("d", SHARD, "m", 0, StartAt.offset(99)).committed()).isEqualTo(30);
    assertThat(rig.grant("e", SHARD, "m", 0, StartAt.timestamp(1005)).committed()).isZero();
    assertThat(rig.grant("f", SHARD, "m", 0, StartAt.timestamp(1010)).committed()).isEqualTo(20);
    assertThat(rig.grant("h", SHARD, "m", 0, StartAt.timestamp(2003)).committed()).isEqualTo(20);
    assertThat(rig.grant("i", SHARD, "m", 0, StartAt.timestamp(9999)).committed()).isEqualTo(30);
    assertThat(rig.grant("j", SHARD, "m", 0, StartAt.timestamp(0)).committed()).isZero();
  }

  /** Nodes could differ in how they read a malformed one, and must not in where a group begins. */
  @Test
  void whatIsAppliedDoesNotUnpackABatchToFindATime() {
    BatchBuilder builder = new BatchBuilder(256, BatchPacker.of(Compression.LZ4));
    times(10, i -> builder.add(new Message(null, null, 1000 + i, new byte[100])));
    rig.append(SHARD, batch(0, 0, 0, 5, 500));
    rig.append(SHARD, builder.build(0, 0, 0));
    assertThat(rig.grant("e", SHARD, "m", 0, StartAt.timestamp(1005)).committed()).isEqualTo(5);
  }

  @Test
  void commitsForwardOnlyAndOnlyForTheOwner() {
    rig.fill(SHARD, 10);
    rig.grant("g", SHARD, "a", 0);
    assertThat(commit(1, 6)).isNull();
    assertThat(commit(1, 4)).isNull();
    assertThat(lease().committed()).isEqualTo(6);
    assertThat(commit(1, 11)).isEqualTo(Refusal.INVALID);
    assertThat(commit(0, 7)).isEqualTo(Refusal.FENCED);
    assertThat(commit(2, 7)).isEqualTo(Refusal.FENCED);
    rig.grant("g", SHARD, "b", 1);
    assertThat(commit(1, 7)).isEqualTo(Refusal.FENCED);
    assertThat(lease().committed()).isEqualTo(6);
  }

  private static CommitMany.Position position(Shard shard, long epoch, long offset) {
    return new CommitMany.Position("g", shard, epoch, offset, -1);
  }

  @Test
  void eachPositionOfManyIsTakenOrRefusedByItself() {
    rig.fill(SHARD, 10);
    rig.fill(OTHER, 10);
    rig.grant("g", SHARD, "a", 0);
    rig.grant("g", OTHER, "a", 0);
    rig.grant("h", OTHER, "b", 0);
    Reply reply =
        rig.run(
            new CommitMany(
                List.of(
                    position(OTHER, 1, 3),
                    position(SHARD, 2, 4),
                    position(new Shard(1, 9), 1, 4),
                    new CommitMany.Position("h", OTHER, 1, 5, 2),
                    position(OTHER, 1, 7),
                    new CommitMany.Position("h", SHARD, 1, 5, -1))));
    assertThat(((Reply.OfCommits) reply).refused())
        .extracting(RefusedCommit::index, RefusedCommit::refusal)
        .containsExactly(
            tuple(1, Refusal.FENCED),
            tuple(2, Refusal.UNKNOWN_SHARD),
            tuple(4, Refusal.INVALID),
            tuple(5, Refusal.FENCED));
    assertThat(lease().committed()).isZero();
    assertThat(rig.tables().lease("g", OTHER).committed()).isEqualTo(3);
    assertThat(rig.tables().lease("h", OTHER).committed()).isEqualTo(5);
    assertThat(rig.tables().lease("h", OTHER).stateOffset()).isEqualTo(2);
    rig.reopen();
    assertThat(rig.tables().lease("h", OTHER).committed()).isEqualTo(5);
  }

  @Test
  void aCommandOfNoPositionOrTooManyIsRefused() {
    CommitMany many =
        new CommitMany(
            Collections.nCopies(Limits.COMMITS_A_COMMAND_MAX + 1, position(SHARD, 1, 0)));
    for (CommitMany wrong : List.of(new CommitMany(List.of()), many)) {
      Fails.saying(wrong::check, wrong.positions().size() + " positions: use 1 to 5000");
    }
    assertThatThrownBy(
            () -> new CommitMany(List.of(new CommitMany.Position(null, SHARD, 1, 1, 1))).check())
        .isInstanceOf(RefusedException.class);
  }

  private static TakeSteps steps(DataCommand.Step... steps) {
    return new TakeSteps(List.of(steps));
  }

  @Test
  void eachStepOfManyIsTakenOrRefusedByItself() {
    rig.fill(SHARD, 10);
    rig.grant("g", SHARD, "a", 0);
    rig.grant("h", OTHER, "a", 0);
    Reply reply =
        rig.run(
            steps(
                grant(1, 5_000),
                new DataCommand.SetDrain("g", SHARD, 1, new Drain("b", 9)),
                new DataCommand.SetDrain("h", OTHER, 2, new Drain("b", 9)),
                new DataCommand.SetDrain("h", SHARD, 1, null),
                new DataCommand.ResetLease("i", SHARD, 0, StartAt.offset(4)),
                new DataCommand.ResetLease("k", SHARD, 0, StartAt.offset(11)),
                new DataCommand.ResetLease("k", new Shard(1, 9), 0, StartAt.EARLIEST)));
    List<Reply> replies = ((Reply.OfSteps) reply).replies();
    assertThat(replies)
        .extracting(each -> each instanceof Reply.Refused no ? no.refusal() : null)
        .containsExactly(
            null,
            Refusal.INVALID,
            Refusal.FENCED,
            Refusal.FENCED,
            null,
            Refusal.OFFSET_OUT_OF_RANGE,
            Refusal.UNKNOWN_SHARD);
    assertThat(((Reply.OfLease) replies.get(0)).lease().epoch()).isEqualTo(2);
    rig.reopen();
    assertThat(lease().ownedAt(2)).isTrue();
    assertThat(lease().drain()).isNull();
    assertThat(rig.tables().lease("h", OTHER).drain()).isNull();
    assertThat(rig.tables().lease("i", SHARD).committed()).isEqualTo(4);
    assertThat(rig.tables().lease("k", SHARD)).isNull();
  }

  @Test
  void aCommandOfNoStepOrTooManyIsRefused() {
    var many = new TakeSteps(Collections.nCopies(Limits.STEPS_A_COMMAND_MAX + 1, grant(0, 5_000)));
    for (TakeSteps wrong : List.of(steps(), many)) {
      Fails.saying(wrong::check, wrong.steps().size() + " steps: use 1 to 1000");
    }
    Fails.saying(steps(grant(0, 5_000), grant(0, 0))::check, "owner timeout of 0 ms");
  }

  @Test
  void releaseMovesPositionAndStateTogetherAndMayBeRepeated() {
    rig.fill(SHARD, 10);
    rig.grant("g", SHARD, "a", 0);
    rig.run(new DataCommand.SetDrain("g", SHARD, 1, new Drain("b", 99)));
    assertThat(release(1, 5, 5, new byte[] {1, 2})).isNull();
    assertThat(release(1, 9, 9, new byte[] {3})).as("a repeat changes nothing").isNull();

    assertThat(lease().owned()).isFalse();
    assertThat(lease().committed()).isEqualTo(5);
    assertThat(lease().stateOffset()).isEqualTo(5);
    assertThat(lease().drain()).isEqualTo(new Drain("b", 99));
    assertThat(commit(1, 6)).isEqualTo(Refusal.FENCED);
    assertThat(release(0, 6, -1, null)).isEqualTo(Refusal.FENCED);

    Lease granted = rig.grant("g", SHARD, "b", 1);
    assertThat(granted.drain()).isNull();
    assertThat(release(2, 8, -1, null)).as("no new state: the former stays").isNull();
    assertThat(lease().committed()).isEqualTo(8);
    assertThat(lease().stateOffset()).isEqualTo(5);
    assertThat(rig.data.leaseWithState("g", SHARD).state()).containsExactly(1, 2);
    assertThat(lease().floor()).isEqualTo(5);
  }

  private void drainTo(String member, Drain.Heir heir) {
    Drain drain = new Drain(member, 99, heir);
    assertThat(refusal(new DataCommand.SetDrain("g", SHARD, lease().epoch(), drain))).isNull();
  }

  @Test
  void aReleaseGrantsTheShardToTheHeirOfTheDrain() {
    rig.fill(SHARD, 10);
    rig.grant("g", SHARD, "a", 0);
    drainTo("b", new Drain.Heir("b-7", 12_000));
    assertThat(release(1, 5, 5, new byte[] {1, 2})).isNull();

    assertThat(lease().epoch()).isEqualTo(2);
    assertThat(lease().owner()).isEqualTo("b");
    assertThat(lease().instance()).isEqualTo("b-7");
    assertThat(lease().ownerTimeoutMillis()).isEqualTo(12_000);
    assertThat(lease().drain()).isNull();
    assertThat(lease().committed()).isEqualTo(5);
    assertThat(lease().stateOffset()).isEqualTo(5);
    assertThat(rig.data.leaseWithState("g", SHARD).state()).containsExactly(1, 2);
    assertThat(release(1, 9, 9, new byte[] {3})).as("once").isEqualTo(Refusal.FENCED);
    assertThat(commit(1, 6)).isEqualTo(Refusal.FENCED);
    assertThat(commit(2, 6)).isNull();
    rig.reopen();
    assertThat(lease().ownedAt(2)).isTrue();
    assertThat(lease().committed()).isEqualTo(6);
  }

  @Test
  void whoTheShardGoesToMayChangeUntilTheRelease() {
    rig.fill(SHARD, 10);
    rig.grant("g", SHARD, "a", 0);
    drainTo("b", new Drain.Heir("b-7", 5_000));
    rig.reopen();
    assertThat(lease().drain().heir().instance()).isEqualTo("b-7");
    drainTo("c", new Drain.Heir("c-1", 5_000));
    assertThat(release(1, 3, -1, null)).isNull();
    assertThat(lease().instance()).isEqualTo("c-1");

    drainTo("b", new Drain.Heir("b-7", 5_000));
    drainTo("b", null);
    assertThat(release(2, 4, -1, null)).isNull();
    assertThat(lease().owned()).as("the dispatcher grants it").isFalse();
    assertThat(lease().epoch()).isEqualTo(2);
  }

  @Test
  void onlyWhoHoldsTheGroupGrantsAShardThatHasATerm() {
    rig.fill(SHARD, 10);
    rig.run(Commands.grant("g", SHARD, "a", "a-1", 0, StartAt.EARLIEST, 4));
    drainTo("b", new Drain.Heir("b-7", 5_000));
    assertThat(release(1, 3, -1, null)).isNull();
    assertThat(lease().owned()).isFalse();
    assertThat(lease().epoch()).isEqualTo(1);
  }

  @Test
  void aDrainWhoseHeirMakesNoSenseIsRefusedBeforeItIsLogged() {
    for (Drain wrong :
        List.of(
            new Drain("", 9, new Drain.Heir("b-1", 5_000)),
            new Drain("b", 9, new Drain.Heir("", 5_000)),
            new Drain("b", 9, new Drain.Heir("b-1", 0)))) {
      assertThatThrownBy(() -> new DataCommand.SetDrain("g", SHARD, 1, wrong).check())
          .isInstanceOf(RefusedException.class);
    }
  }

  @Test
  void theEmptyStateIsNotedOnceAndKeepsTheMessagesThatItNeeds() {
    rig.fill(SHARD, 10);
    rig.grant("g", SHARD, "a", 0);
    assertThat(refusal(Commands.commit("g", SHARD, 1, 6, 11))).isEqualTo(Refusal.INVALID);
    assertThat(refusal(Commands.commit("g", SHARD, 1, 6, 2))).isNull();
    assertThat(refusal(Commands.commit("g", SHARD, 1, 7, 5))).isNull();
    assertThat(lease().committed()).isEqualTo(7);
    assertThat(lease().stateOffset()).isEqualTo(2);
    assertThat(lease().floor()).isEqualTo(2);
    assertThat(rig.data.leaseWithState("g", SHARD).state()).isEmpty();
    assertThat(release(1, 8, 8, new byte[] {1})).isNull();
    rig.grant("g", SHARD, "b", 1);
    assertThat(refusal(Commands.commit("g", SHARD, 2, 9, 8))).isNull();
    assertThat(lease().stateOffset()).isEqualTo(8);
    assertThat(rig.data.leaseWithState("g", SHARD).state()).containsExactly(1);
  }

  @Test
  void refusesAReleaseThatMakesNoSense() {
    rig.fill(SHARD, 10);
    rig.grant("g", SHARD, "a", 0);
    assertThat(release(1, 11, -1, null)).isEqualTo(Refusal.INVALID);
    assertThat(release(1, 5, 5, null)).isEqualTo(Refusal.INVALID);
    assertThat(release(1, 5, -1, new byte[0])).isEqualTo(Refusal.INVALID);
    assertThat(release(1, 5, 5, new byte[Limits.STATE_BYTES_MAX + 1])).isEqualTo(Refusal.TOO_LARGE);
    assertThat(lease().ownedAt(1)).isTrue();
    assertThat(release(1, 5, 5, new byte[0])).isNull();
    assertThat(rig.data.leaseWithState("g", SHARD).state()).isEmpty();
  }

  @Test
  void drainsAreSetAndCalledOff() {
    rig.grant("g", SHARD, "a", 0);
    assertThat(refusal(new DataCommand.SetDrain("g", SHARD, 2, new Drain("b", 9))))
        .isEqualTo(Refusal.FENCED);
    assertThat(refusal(new DataCommand.SetDrain("g", SHARD, 1, new Drain("b", 9)))).isNull();
    assertThat(lease().drain().to()).isEqualTo("b");
    assertThat(commit(1, 0)).as("a draining owner still commits").isNull();
    assertThat(refusal(new DataCommand.SetDrain("g", SHARD, 1, null))).isNull();
    assertThat(lease().drain()).isNull();
  }

  @Test
  void forgetsAllLeasesOfAGroup() {
    rig.grant("g", SHARD, "a", 0);
    rig.grant("h", SHARD, "a", 0);
    rig.run(Commands.forgetLeases("g"));
    assertThat(lease()).isNull();
    assertThat(rig.tables().lease("h", SHARD)).isNotNull();
    assertThat(commit(1, 0)).isEqualTo(Refusal.FENCED);
  }

  @Test
  void aLateRequestToForgetDropsNothingOfAGroupThatWasMadeAnew() {
    rig.grant("g", SHARD, "a", 0);
    rig.grant("g", SHARD, "b", 1);
    DataCommand forget = Commands.forgetLeases("g", 2);
    assertThat(rig.run(Commands.forgetLeases("g", 1))).isEqualTo(new Reply.OfNumber(2));
    assertThat(lease().epoch()).isEqualTo(2);
    assertThat(rig.run(forget)).isEqualTo(new Reply.OfNumber(2));
    assertThat(lease()).isNull();
    rig.grant("g", SHARD, "a", 0);
    assertThat(rig.run(forget)).isEqualTo(new Reply.OfNumber(3));
    assertThat(lease().epoch()).isEqualTo(3);
  }

  /** A member that was away may make the group again, and remembers what it had finished. */
  @Test
  void aGroupThatIsMadeAgainBeginsAnotherGeneration() {
    rig.run(new DataCommand.RaiseFeatureLevel(FeatureLevel.SUBSCRIPTIONS));
    rig.grant("g", SHARD, "a", 0);
    rig.run(new DataCommand.ForgetLeases("g", 1, DataCommand.ForgetLeases.ALL_TOPICS));
    assertThat(lease()).isNull();
    assertThat(rig.grant("g", SHARD, "a", 0).generation().number()).isOne();
  }

  @Test
  void leasesOnOneTopicAreForgottenAlone() throws Exception {
    int topic = SHARD.topicId();
    rig.grant("g", SHARD, "a", 0);
    rig.grant("g", SHARD, "b", 1);
    rig.run(new DataCommand.ForgetLeases("g", 9, topic + 1));
    assertThat(lease()).as("of another topic").isNotNull();
    DataCommand forget = new DataCommand.ForgetLeases("g", 2, topic);
    assertThat(rig.run(new DataCommand.ForgetLeases("g", 1, topic)))
        .isEqualTo(new Reply.OfNumber(2));
    assertThat(lease()).isNotNull();
    assertThat(rig.run(forget)).isEqualTo(new Reply.OfNumber(9));
    assertThat(lease()).isNull();
    rig.data.close();
    rig.data.open();
    Lease again = rig.grant("g", SHARD, "a", 0);
    assertThat(again.epoch()).isEqualTo(10);
    assertThat(again.generation().number()).as("what members remember is of before").isOne();
    assertThat(rig.run(forget)).as("it comes late").isEqualTo(new Reply.OfNumber(10));
    assertThat(lease()).isNotNull();
  }

  @Test
  void whereTheGroupHadNothingItsEpochsBeginAboveTheLimitToo() {
    rig.run(Commands.forgetLeases("g", 7));
    assertThat(rig.grant("g", SHARD, "a", 0).epoch()).isEqualTo(8);
    assertThat(rig.run(Commands.forgetLeases("g", 7))).isEqualTo(new Reply.OfNumber(8));
    assertThat(lease()).isNotNull();
  }

  @Test
  void epochsCanBeRaisedWithoutDroppingAnything() {
    rig.grant("g", SHARD, "a", 0);
    rig.grant("h", SHARD, "a", 0);
    assertThat(rig.run(DataCommand.ForgetLeases.raise("g", 7))).isEqualTo(new Reply.OfNumber(7));
    assertThat(rig.run(DataCommand.ForgetLeases.raise("g", 3))).isEqualTo(new Reply.OfNumber(7));
    assertThat(lease().epoch()).isEqualTo(1);
    assertThat(rig.grant("i", SHARD, "a", 0).epoch()).isEqualTo(8);
  }

  @Test
  void epochsGoOnAfterAGroupWasForgotten() throws Exception {
    rig.grant("g", SHARD, "a", 0);
    rig.grant("g", SHARD, "b", 1);
    rig.run(Commands.forgetLeases("g", 2));
    rig.data.close();
    rig.data.open();
    assertThat(rig.grant("g", SHARD, "a", 0).epoch()).isEqualTo(3);
    assertThat(rig.grant("g", SHARD, "b", 3).epoch()).isEqualTo(4);
    rig.run(Commands.forgetLeases("g", 4));
    Reply reset = rig.run(new DataCommand.ResetLease("g", SHARD, 0, StartAt.LATEST));
    assertThat(((Reply.OfLease) reset).lease().epoch()).isEqualTo(5);
    assertThat(refusal(Commands.grant("h", SHARD, "a", "a-1", 5, StartAt.EARLIEST)))
        .as("no lease is at an epoch")
        .isEqualTo(Refusal.FENCED);
  }

  /** Another topic of the same name has another id, and may lie in other log groups. */
  @Test
  void epochsGoOnWhenATopicIsMadeAgain() {
    times(4, epoch -> rig.grant("g", SHARD, "a", epoch));
    Reply dropped = rig.run(new DataCommand.DropShards(SHARD.topicId()));
    assertThat(dropped).isEqualTo(new Reply.OfNumber(4));
    assertThat(rig.run(new DataCommand.DropShards(SHARD.topicId())))
        .as("a repeat")
        .isEqualTo(dropped);

    Rig elsewhere = new Rig();
    create(elsewhere, 1);
    elsewhere.run(new MetaCommand.DeleteTopic("orders"));
    elsewhere.run(new MetaCommand.RemoveTopic(1, ((Reply.OfNumber) dropped).number()));
    create(elsewhere, 2);
    long floor = elsewhere.meta.tables().counters().epochFloor();
    Shard again = new Shard(2, 0);
    elsewhere.run(
        new DataCommand.OpenShards(
            2, "orders", List.of(0), TopicConfig.DEFAULT, floor, List.of(), 0));
    assertThat(elsewhere.grant("g", again, "a", 0).epoch()).isEqualTo(5);
  }

  private static void create(Rig rig, int id) {
    Reply reply = rig.run(new MetaCommand.CreateTopic("orders", 1, TopicConfig.DEFAULT));
    assertThat(((Reply.OfTopic) reply).topic().id()).isEqualTo(id);
  }
}
