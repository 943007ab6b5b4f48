package dev.evenkeel.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.evenkeel.Fails;
import dev.evenkeel.broker.machine.Rig;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.protocol.wire.Batch;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Violations planted one by one, and next to each what looks like it and is allowed. */
class HistoryTest {
  private static final Shard SHARD = Rig.SHARD;

  private final History history = new History(() -> 0);

  private static Batch batch(long first) {
    return Rig.batch(1, 0, first, 2);
  }

  private static Batch other(long first) {
    return Rig.batch(2, 0, first, 2);
  }

  private void appended(Batch batch, long base) {
    history.append("p", SHARD, batch).answered(new Result(null, base));
  }

  private void browsed(long offset, long end, FetchAnswer.Placed... batches) {
    history
        .fetch("b", FetchRequest.browse(SHARD, offset, 100, 100, 0))
        .answered(new FetchAnswer(0, end, 0, List.of(batches)));
  }

  private static FetchAnswer.Placed placed(long base, Batch batch) {
    return new FetchAnswer.Placed(base, batch);
  }

  private History.Call<Reply> grant(String owner, long expected) {
    return history.command(
        "d", SHARD, Commands.grant("g", SHARD, owner, owner, expected, StartAt.EARLIEST));
  }

  private void granted(String owner, long expected) {
    grant(owner, expected).answered(new Reply.OfLease(lease(owner, expected + 1, 0)));
  }

  private static Lease lease(String owner, long epoch, long committed) {
    return Commands.lease("g", SHARD, epoch, owner, owner, committed, -1, null, null);
  }

  private History.Call<Reply> commit(long epoch, long offset) {
    return history.command("c", SHARD, Commands.commit("g", SHARD, epoch, offset));
  }

  private void isFine() {
    assertThatCode(history::check).doesNotThrowAnyException();
  }

  private void isWrong(String... says) {
    Fails.with(AssertionError.class, history::check, says);
  }

  private static RefusedException refusal(Refusal refusal) {
    return new RefusedException(refusal, "");
  }

  // ---- Appends and fetches

  @Test
  void anAcknowledgedBatchThatIsNotThereIsLost() {
    appended(batch(0), 0);
    appended(batch(2), 2);
    browsed(0, 4, placed(0, batch(0)), placed(2, batch(2)));
    isFine();
    browsed(0, 4, placed(0, batch(0)), placed(2, other(0)));
    isWrong("shard 1/0", "batch 2@0 from 0");
  }

  @Test
  void twoBatchesDoNotGetOneOffset() {
    appended(batch(0), 0);
    appended(other(0), 0);
    isWrong("None of these can be next", "batch 2@0 from 0, 2 messages -> Result");
  }

  @Test
  void aRepeatedBatchIsAnsweredAsTheFirst() {
    appended(batch(0), 0);
    appended(batch(0), 0);
    appended(batch(0), Result.OFFSET_FORGOTTEN);
    isFine();
    appended(batch(0), 2);
    isWrong("batch 1@0 from 0");
  }

  @Test
  void aBatchOfUnknownOutcomeMayComeLateOrNeverButOnlyOnce() {
    history.append("p", SHARD, batch(0)).refused(refusal(Refusal.INDETERMINATE));
    browsed(0, 0);
    isFine();
    appended(other(0), 0);
    browsed(0, 4, placed(0, other(0)), placed(2, batch(0)));
    isFine();
    browsed(0, 6, placed(0, other(0)), placed(2, batch(0)), placed(4, batch(0)));
    isWrong("end 6");
  }

  @Test
  void aBatchThatWasRefusedBeforeTheLogNeverComes() {
    history.append("p", SHARD, batch(0)).refused(refusal(Refusal.NOT_LEADER));
    isFine();
    browsed(0, 2, placed(0, batch(0)));
    isWrong("end 0");
  }

  @Test
  void aGapInASequenceIsRefusedAndNothingElse() {
    appended(batch(0), 0);
    history.append("p", SHARD, batch(4)).answered(new Result(Refusal.SEQUENCE_GAP, 2));
    isFine();
    appended(batch(4), 2);
    isWrong("batch 1@0 from 4");
  }

  @Test
  void aFetchMayBeBehindButNotAhead() {
    appended(batch(0), 0);
    appended(batch(2), 2);
    browsed(0, 2, placed(0, batch(0)));
    isFine();
    browsed(2, 6, placed(2, batch(2)), placed(4, batch(4)));
    appended(batch(4), 4);
    isWrong("end 6, batch 1@0 from 2");
  }

  @Test
  void aFetchHasNoGapAndBeginsWithTheOffsetAskedFor() {
    appended(batch(0), 0);
    appended(batch(2), 2);
    appended(batch(4), 4);
    browsed(1, 6, placed(0, batch(0)), placed(2, batch(2)));
    isFine();
    browsed(0, 6, placed(0, batch(0)), placed(4, batch(4)));
    isWrong("from 4, 2 messages at 4");
  }

  @Test
  void aFetchThatBeginsElsewhereIsWrong() {
    appended(batch(0), 0);
    appended(batch(2), 2);
    browsed(0, 4, placed(2, batch(2)));
    isWrong("end 4, batch 1@0 from 2");
  }

  @Test
  void onlyOneWhoHeldTheLeaseIsServed() {
    appended(batch(0), 0);
    granted("a", 0);
    granted("b", 1);
    fetched(1);
    fetched(2);
    isFine();
    fetched(3);
    granted("c", 2);
    isWrong("epoch=3");
  }

  private void fetched(long epoch) {
    history
        .fetch("a", new FetchRequest("g", SHARD, epoch, 0, 100, 100, 0, 0))
        .answered(new FetchAnswer(0, 2, 0, List.of(placed(0, batch(0)))));
  }

  // ---- Leases

  @Test
  void anEpochIsGrantedOnce() {
    granted("a", 0);
    grant("b", 0).answered(Reply.refused(Refusal.FENCED, "epoch 0"));
    isFine();
    granted("b", 0);
    isWrong("owner=b");
  }

  @Test
  void aGrantOfUnknownOutcomeExplainsWhatFollowsAndWhatDoesNot() {
    granted("a", 0);
    grant("b", 1).refused(refusal(Refusal.INDETERMINATE));
    commit(1, 0).answered(Reply.DONE);
    isFine();
    commit(1, 0).answered(Reply.refused(Refusal.FENCED, ""));
    isFine();
    commit(1, 0).answered(Reply.DONE);
    isWrong("epoch=1");
  }

  @Test
  void aFencedOwnerCommitsNothing() {
    appended(batch(0), 0);
    granted("a", 0);
    commit(1, 1).answered(Reply.DONE);
    grant("b", 1).answered(new Reply.OfLease(lease("b", 2, 1)));
    isFine();
    commit(1, 2).answered(Reply.DONE);
    isWrong("Commit[group=g");
  }

  @Test
  void committedOffsetsDoNotGoBack() {
    appended(batch(0), 0);
    granted("a", 0);
    commit(1, 2).answered(Reply.DONE);
    commit(1, 1).answered(Reply.DONE);
    history.readLease("a", SHARD, "g").answered(lease("a", 1, 2));
    isFine();
    grant("b", 1).answered(new Reply.OfLease(lease("b", 2, 1)));
    isWrong("committed=1");
  }

  @Test
  void aLeaseThatWasReadWasSoAtSomeTimeBefore() {
    granted("a", 0);
    granted("b", 1);
    history.readLease("a", SHARD, "g").answered(lease("a", 1, 0));
    isFine();
    history.readLease("a", SHARD, "g").answered(lease("c", 3, 0));
    granted("c", 2);
    isWrong("read the lease of g");
  }

  @Test
  void aHandoverTakesStateAndItsOffsetAlong() {
    appended(batch(0), 0);
    granted("a", 0);
    byte[] state = {1, 2, 3};
    history
        .command("a", SHARD, new DataCommand.Release("g", SHARD, 1, 2, 2, state))
        .answered(Reply.DONE);
    grant("b", 1)
        .answered(
            new Reply.OfLease(Commands.lease("g", SHARD, 2, "b", "b", 2, 2, new byte[0], null)));
    history
        .readLease("b", SHARD, "g")
        .answered(Commands.lease("g", SHARD, 2, "b", "b", 2, 2, Arrays.copyOf(state, 3), null));
    isFine();
    history
        .readLease("b", SHARD, "g")
        .answered(Commands.lease("g", SHARD, 2, "b", "b", 2, 2, new byte[] {9}, null));
    isWrong("read the lease of g");
  }

  @Test
  void aResetGoesWhereItWasAskedToAndFences() {
    appended(batch(0), 0);
    granted("a", 0);
    commit(1, 2).answered(Reply.DONE);
    History.Call<Reply> reset =
        history.command("o", SHARD, new DataCommand.ResetLease("g", SHARD, 1, StartAt.EARLIEST));
    reset.answered(new Reply.OfLease(lease("a", 1, 2).reset(0)));
    commit(1, 2).answered(Reply.refused(Refusal.FENCED, ""));
    isFine();
    commit(1, 2).answered(Reply.DONE);
    isWrong("Commit[group=g");
  }

  @Test
  void whatFailsIsShownWithTheTransferMeanwhile() {
    appended(batch(0), 0);
    History.Call<Result> call = history.append("p", SHARD, other(0));
    history.transfer("d0 from n1 to n2");
    call.answered(new Result(null, 0));
    isWrong("In this order", "meanwhile: 0.. transfer: d0 from n1 to n2");
    assertThat(history.summary()).contains("2 calls to 1 shards", "0 of them", "1 transfers");
  }
}
