package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.GivenBackException;
import dev.evenkeel.client.MemberFaultException;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallAssign;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallDraining;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallKept;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallLost;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallPaused;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallRelease;
import dev.evenkeel.client.internal.consume.ConsumerAction.CommitPositions;
import dev.evenkeel.client.internal.consume.ConsumerAction.Fetch;
import dev.evenkeel.client.internal.consume.ConsumerAction.FetchRetries;
import dev.evenkeel.client.internal.consume.ConsumerAction.HeartbeatNow;
import dev.evenkeel.client.internal.consume.ConsumerAction.ReadLease;
import dev.evenkeel.client.internal.consume.ConsumerAction.ReadParents;
import dev.evenkeel.client.internal.consume.ConsumerAction.RecordOutcomes;
import dev.evenkeel.client.internal.consume.ConsumerAction.Release;
import dev.evenkeel.client.internal.consume.ConsumerAction.Report;
import dev.evenkeel.client.internal.consume.ConsumerAction.Stop;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Pause;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.Skipped;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchPacker;
import dev.evenkeel.protocol.wire.MessageCodec;
import dev.evenkeel.protocol.wire.PlacedBatch;
import dev.evenkeel.protocol.wire.RetryAnswer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.event.Level;

/** The core by script: one shard or two, every answer given by hand. */
class ConsumerCoreTest extends CoreBench {
  @Test
  void aLevelDispatcherIsToldTheGenerationWhichOnlyTheLeaseHas() {
    options.setHoldFailed(true).setOrder(ConsumerOptions.Order.NONE);
    begin(false, false);
    assign(new Assignment.Owned("t", S0, 7, false, 0, 40));
    Lease reset = lease(S0, 5, 60, -1, null).reset(40).granted("m", "i", 0, 5_000);
    answer(take(ReadLease.class), reset);
    assertThat(take(CallAssign.class).shard()).isEqualTo(new ShardContext("t", 0, 7, "m", 40, 1));
  }

  private static FetchAnswer sealed(long end, int more, FetchAnswer.Placed... batches) {
    return new FetchAnswer(0, end, FetchAnswer.SEALED | more, List.of(batches));
  }

  @Test
  void aSealedShardIsReleasedWhenNothingIsLeftInIt() {
    begin(false, false);
    assign(owned(S0, 5, false));
    answer(take(ReadLease.class), lease(S0, 5, 0, -1, null));
    answer(take(CallAssign.class), null);
    Fetch fetch = take(Fetch.class);
    FetchAnswer.Placed batch = new FetchAnswer.Placed(0, batch("a", "b"));
    answer(fetch, sealed(2, 0, batch));
    core.finished(next(0), now);
    Task last = next(1);
    fetch = take(Fetch.class);
    assertThat(fetch.request().failuresKnown()).isEqualTo(FetchAnswer.SEALED);
    answer(fetch, sealed(2, 0));
    core.finished(last, now);
    tick(1_000);
    takeAll(CommitPositions.class).forEach(each -> answer(each, Reply.DONE));
    assertThat(takeAll(CallRelease.class)).as("a message waits to be tried again").isEmpty();
    fetch = take(Fetch.class);
    answer(fetch, sealed(2, FetchAnswer.NONE_WAITS));
    answer(take(CallRelease.class), null);
    DataCommand.Release release = take(Release.class).command();
    assertThat(release.offset()).isEqualTo(2);
    assertThat(release.stateOffset()).isEqualTo(DataCommand.Release.FINISHED);
  }

  /** What the log said before it had the failure does not count, whenever the answer comes. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aSealedShardIsNotReleasedWhileItsLastMessageWaits(boolean late) {
    options.setOrder(ConsumerOptions.Order.NONE);
    begin(false, false);
    assign(owned(S0, 5, false));
    answer(take(ReadLease.class), lease(S0, 5, 0, -1, null));
    answer(take(CallAssign.class), null);
    Fetch fetch = take(Fetch.class);
    FetchAnswer.Placed batch = new FetchAnswer.Placed(0, batch("a"));
    answer(fetch, sealed(1, FetchAnswer.NONE_WAITS, batch));
    core.failed(next(0), new IllegalStateException("meant to fail"), now);
    RecordOutcomes record = take(RecordOutcomes.class);
    fetch = take(Fetch.class);
    if (!late) {
      answer(fetch, sealed(1, FetchAnswer.NONE_WAITS));
    }
    answer(record, new Reply.OfOffsets(List.of()));
    if (late) {
      answer(fetch, sealed(1, FetchAnswer.NONE_WAITS));
    }
    tick(6_000);
    assertThat(takeAll(CallRelease.class)).isEmpty();
    commit();
    answer(sent, Reply.DONE);
    tick(100);
    assertThat(takeAll(CallRelease.class)).isEmpty();
    fetch = take(Fetch.class);
    // A log that had nothing new to say would answer together with others, which says nothing.
    assertThat(fetch.request().failuresKnown()).isEqualTo(FetchAnswer.SEALED);
    answer(fetch, sealed(1, FetchAnswer.NONE_WAITS));
    take(CallRelease.class);
  }

  @Test
  void aSealedShardWithoutAMessageLeavesWhatItTookOverToItsParents() {
    options.setDelivery(ConsumerOptions.DeliveryPolicy.EFFECTIVELY_ONCE);
    begin(true, false);
    leavesNothing(takeOver(0));
  }

  @Test
  void soDoesOneWhoseMessagesCommitNoState() {
    options.setDelivery(ConsumerOptions.DeliveryPolicy.EFFECTIVELY_ONCE);
    begin(true, false);
    leavesNothing(takeOver(1));
  }

  @Test
  void soDoesAnEmptyOneWhoseOwnerCannotGiveTheState() {
    begin(true, true);
    DataCommand.Release release = takeOver(0);
    assertThat(release.state()).as("it took one over, and gives none back").isEmpty();
    fails = new IllegalStateException("meant to fail");
    leavesNothing(takeOver(0));
  }

  private static void leavesNothing(DataCommand.Release release) {
    assertThat(release.state()).isNull();
    assertThat(release.stateOffset()).isEqualTo(DataCommand.Release.FINISHED);
  }

  /** Why onRelease fails, or null. */
  private Throwable fails;

  private long epoch = 1;

  /** How an owner releases a sealed shard whose parent has left a state. */
  private DataCommand.Release takeOver(int messages) {
    Assignment.Origin origin = new Assignment.Origin(List.of(3), List.of(3), 6, 2);
    assign(new Assignment.Owned("t", S0, epoch, false, 0, -1, origin, null, null));
    answer(take(ReadLease.class), lease(S0, epoch, 0, -1, null));
    epoch++;
    Lease parent =
        Commands.lease("g", new Shard(1, 3), 2, null, null, 9, 9, new byte[] {3}, null)
            .at(Lease.Stage.FINISHED);
    answer(take(ReadParents.class), parent);
    answer(take(CallAssign.class), null);
    Fetch fetch = take(Fetch.class);
    if (messages > 0) {
      FetchAnswer.Placed batch = new FetchAnswer.Placed(0, batch("a"));
      answer(fetch, sealed(1, FetchAnswer.NONE_WAITS, batch));
      core.finished(next(0), now);
    }
    while (fetch != null) {
      answer(fetch, sealed(messages, FetchAnswer.NONE_WAITS));
      tick(1_000);
      takeAll(CommitPositions.class).forEach(each -> answer(each, Reply.DONE));
      List<Fetch> more = takeAll(Fetch.class);
      fetch = more.isEmpty() ? null : more.get(0);
    }
    takeAll(CallRelease.class).forEach(each -> refuse(each, fails));
    Release release = take(Release.class);
    answer(release, Reply.DONE);
    return release.command();
  }

  @Test
  void theFirstOwnerGetsTheStatesOfFormerShardsAndWaitsUntilTheyAreThere() {
    begin(true, true);
    Assignment.Origin origin = new Assignment.Origin(List.of(3, 4), List.of(4), 6, 2);
    assign(new Assignment.Owned("t", S0, 1, false, 0, -1, origin, null, null));
    answer(take(ReadLease.class), lease(S0, 1, 0, -1, null));
    ReadParents read = take(ReadParents.class);
    assertThat(read.parents()).containsExactly(3, 4);
    Lease over =
        Commands.lease("g", new Shard(1, 3), 2, null, null, 9, 9, new byte[] {3}, null)
            .at(Lease.Stage.FINISHED);
    Lease behind = Commands.lease("g", new Shard(1, 4), 2, "m", "i", 5, 0, new byte[0], null);
    answer(read, over);
    answer(read, behind);
    assertThat(takeAll(CallAssign.class)).as("a node was behind").isEmpty();
    tick(1_000);
    answer(take(ReadLease.class), lease(S0, 1, 0, -1, null));
    Lease four =
        Commands.lease("g", new Shard(1, 4), 2, null, null, 7, 7, new byte[] {4}, null)
            .at(Lease.Stage.FINISHED);
    read = take(ReadParents.class);
    // Ordered by shard whoever answers first: the later one counts.
    answer(read, four);
    answer(read, over);
    CallAssign call = take(CallAssign.class);
    assertThat(call.state()).isNull();
    assertThat(call.parents())
        .extracting(ConsumerAction.Parent::shard, ConsumerAction.Parent::heir)
        .containsExactly(tuple(3, false), tuple(4, true));
    assertThat(call.shard().firstShard()).isEqualTo(6);
  }

  /** Between the grant and the read, when the states that were left there live on elsewhere. */
  @ParameterizedTest
  @EnumSource(names = {"UNKNOWN_SHARD", "UNKNOWN_GROUP"})
  void theFirstOwnerGoesOnWithoutFormerShardsThatAreForgotten(Refusal forgotten) {
    begin(true, true);
    Assignment.Origin origin = new Assignment.Origin(List.of(3, 4), List.of(4), 6, 2);
    assign(new Assignment.Owned("t", S0, 1, false, 0, -1, origin, null, null));
    answer(take(ReadLease.class), lease(S0, 1, 0, -1, null));
    Lease four =
        Commands.lease("g", new Shard(1, 4), 2, null, null, 7, 7, new byte[] {4}, null)
            .at(Lease.Stage.FINISHED);
    ReadParents read = take(ReadParents.class);
    refuse(read, new RefusedException(Refusal.UNAVAILABLE, "later"));
    answer(read, four);
    assertThat(takeAll(CallAssign.class)).as("nobody knows that it is gone").isEmpty();
    tick(1_000);
    answer(take(ReadLease.class), lease(S0, 1, 0, -1, null));
    read = take(ReadParents.class);
    refuse(read, new RefusedException(forgotten, "forgotten"));
    answer(read, four);
    assertThat(take(CallAssign.class).parents())
        .extracting(ConsumerAction.Parent::shard)
        .containsExactly(4);
  }

  /**
   * Retention may have dropped the first messages of a shard before its first owner came: it has
   * the states of its former shards nevertheless. Once it has a state of its own, it has not.
   */
  @ParameterizedTest
  @CsvSource({"0, -1, true", "37, -1, true", "0, 0, true", "40, 0, true", "40, 37, false"})
  void statesOfFormerShardsComeWhereverTheShardBegins(
      long committed, long stateOffset, boolean comes) {
    begin(true, true);
    Assignment.Origin origin = new Assignment.Origin(List.of(3), List.of(3), 6, 2);
    assign(new Assignment.Owned("t", S0, 1, false, 0, -1, origin, null, null));
    byte[] state = stateOffset < 0 ? null : new byte[0];
    answer(take(ReadLease.class), lease(S0, 1, committed, stateOffset, state));
    Lease parent =
        Commands.lease("g", new Shard(1, 3), 2, null, null, 9, 9, new byte[] {3}, null)
            .at(Lease.Stage.FINISHED);
    takeAll(ReadParents.class).forEach(read -> answer(read, parent));
    CallAssign call = take(CallAssign.class);
    assertThat(call.parents()).hasSize(comes ? 1 : 0);
    assertThat(call.shard().offset()).isEqualTo(stateOffset < 0 ? committed : stateOffset);
  }

  /** It may die before it has stored a state: the next owner begins as it did. */
  @Test
  void aShardThatBeginsWithStatesOfFormerShardsHasNoStateOfItsOwn() {
    begin(true, true);
    Assignment.Origin origin = new Assignment.Origin(List.of(3), List.of(3), 6, 2);
    assign(new Assignment.Owned("t", S0, 1, false, 0, -1, origin, null, null));
    answer(take(ReadLease.class), lease(S0, 1, 37, -1, null));
    Lease parent =
        Commands.lease("g", new Shard(1, 3), 2, null, null, 9, 9, new byte[] {3}, null)
            .at(Lease.Stage.FINISHED);
    answer(take(ReadParents.class), parent);
    answer(take(CallAssign.class), null);
    Fetch fetch = take(Fetch.class);
    assertThat(fetch.request().offset()).isEqualTo(37);
    answer(fetch, new FetchAnswer(0, 50, 37, 45, List.of()));
    tick(6_000);
    DataCommand.Commit commit = commit();
    assertThat(commit.offset()).isEqualTo(45);
    assertThat(commit.stateOffset()).as("that of the beginning").isZero();
  }

  @Test
  void whatAFilterLeavesOutCountsAsConsumed() {
    options.setFilter(MessageFilter.of("key=a"));
    begin(false, false);
    assign(owned(S0, 5, false));
    answer(take(ReadLease.class), lease(S0, 5, 0, -1, null));
    answer(take(CallAssign.class), null);
    Fetch fetch = take(Fetch.class);
    assertThat(fetch.request().filter()).isEqualTo(MessageFilter.of("key=a"));
    FetchAnswer answer =
        new FetchAnswer(0, 20, 0, 9, List.of(new FetchAnswer.Placed(3, batch("a", "b", "a"))));
    answer(fetch, answer);
    Task first = next(3);
    fetch = take(Fetch.class);
    assertThat(fetch.request().offset()).isEqualTo(9);
    core.finished(first, now);
    core.finished(next(5), now);
    assertThat(core.next(now)).isNull();
    assertThat(core.consumed()).isEqualTo(2);
    assertThat(core.filtered()).isEqualTo(3 + 1 + 3);
    tick(1_000);
    assertThat(commit().offset()).isEqualTo(9);
    answer(sent, Reply.DONE);

    answer(fetch, new FetchAnswer(0, 20, 0, 20, List.of()));
    assertThat(core.filtered()).isEqualTo(18);
    tick(1_000);
    assertThat(commit().offset()).as("without any message").isEqualTo(20);
  }

  /** With a right checksum, {@code count} in its header and three messages. */
  private static Batch malformed(int count) {
    Batch batch = batch("a", "b", "c");
    batch.bytes().putInt(32, count);
    return batch.stamped(1, 0, 0);
  }

  @Test
  void whatIsMalformedInABatchGoesToTheDeadLettersAndTheGroupGoesOn() {
    begin(false, false);
    assign(owned(S0, 5, false));
    answer(take(ReadLease.class), lease(S0, 5, 0, -1, null));
    answer(take(CallAssign.class), null);
    Fetch fetch = take(Fetch.class);
    FetchAnswer answer =
        new FetchAnswer(
            0,
            8,
            0,
            List.of(
                new FetchAnswer.Placed(0, malformed(7)), new FetchAnswer.Placed(7, batch("d"))));
    answer(fetch, answer);
    for (long offset : new long[] {0, 1, 2}) {
      core.finished(next(offset), now);
    }
    List<Outcome.Failed> dead = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      assertThat(core.next(now)).as("the shard keeps its order").isNull();
      RecordOutcomes told = take(RecordOutcomes.class);
      told.command().outcomes().forEach(outcome -> dead.add((Outcome.Failed) outcome));
      answer(told, new Reply.OfOffsets(List.of()));
    }
    core.finished(next(7), now);
    assertThat(dead).extracting(Outcome.Failed::offset).containsExactly(3L, 4L, 5L, 6L);
    assertThat(dead).allMatch(each -> each.way() == Outcome.Way.DEAD && each.attempt() == 1);
    assertThat(dead).allMatch(each -> each.error().startsWith("CORRUPT: the message cannot be"));
    assertThat(dead).as("the log has the messages").allMatch(each -> each.copy() == null);
    assertThat(reports())
        .containsExactly("t/0@5: offsets 3 to 6 cannot be read, they go to the dead letters");
    tick(5_000);
    assertThat(commit().offset()).isEqualTo(8);
  }

  @Test
  void whatCannotBeUnpackedGoesToTheDeadLettersAndTheErrorSaysWhereItIs() {
    options.setOrder(ConsumerOptions.Order.NONE);
    begin(false, false);
    assign(owned(S0, 5, false));
    answer(take(ReadLease.class), lease(S0, 5, 0, -1, null));
    answer(take(CallAssign.class), null);
    Batch batch = compressed(50);
    batch.bytes().putInt(Batch.HEADER_BYTES, 1_000);
    batch.stamped(1, 0, 0);
    Fetch fetch = take(Fetch.class);
    answer(fetch, answer(30, batch));
    assertThat(core.next(now)).isNull();
    List<Outcome.Failed> dead = new ArrayList<>();
    for (RecordOutcomes told : takeAll(RecordOutcomes.class)) {
      told.command().outcomes().forEach(outcome -> dead.add((Outcome.Failed) outcome));
    }
    assertThat(dead).isNotEmpty();
    assertThat(dead.get(0).error())
        .startsWith(
            "CORRUPT: the message cannot be read (t/0 offset 30 in the batch of offsets 30 to 79:"
                + " malformed batch: it ");
  }

  @Test
  void aCompressedBatchCountsAsWhatItIsUnpacked() {
    options.setPendingBytesMax(4_000);
    begin(false, false);
    assign(owned(S0, 5, false));
    answer(take(ReadLease.class), lease(S0, 5, 0, -1, null));
    answer(take(CallAssign.class), null);
    Batch batch = compressed(50);
    assertThat(batch.length()).isLessThan(400);
    FetchAnswer two =
        new FetchAnswer(
            0,
            100,
            0,
            List.of(new FetchAnswer.Placed(0, batch), new FetchAnswer.Placed(50, batch)));
    Fetch fetch = take(Fetch.class);
    answer(fetch, two);
    for (int offset = 0; offset < 50; offset++) {
      core.finished(next(offset), now);
    }
    assertThat(core.next(now)).as("there was no room for the second batch").isNull();
    assertThat(take(Fetch.class).request().offset()).isEqualTo(50);
  }

  private static Batch compressed(int count) {
    BatchBuilder builder = new BatchBuilder(256, BatchPacker.of(Compression.ZSTD));
    for (int i = 0; i < count; i++) {
      builder.add(new Message(null, Map.of(), 0, new byte[60]));
    }
    return builder.build(1, 0, 0);
  }

  @Test
  void aConsumerThatStopsAtFailuresStopsAtWhatItCannotRead() {
    options.setOnFailure(ConsumerOptions.OnFailure.STOP);
    begin(false, false);
    assign(owned(S0, 5, false));
    answer(take(ReadLease.class), lease(S0, 5, 0, -1, null));
    answer(take(CallAssign.class), null);
    Fetch fetch = take(Fetch.class);
    answer(fetch, answer(0, malformed(4)));
    for (long offset : new long[] {0, 1, 2}) {
      core.finished(next(offset), now);
    }
    assertThat(core.next(now)).isNull();
    Stop stop = take(Stop.class);
    assertThat(stop.text())
        .isEqualTo(
            "t/0@5: attempt 1 at offset 3 failed, the consumer ends; to skip it, reset group g on"
                + " shard 0 of topic t to offset 4");
    assertThat(stop.cause())
        .hasMessageContaining("the message cannot be read (t/0 offset 3 in the batch of offsets 0")
        .hasMessageContaining("no handler got it");
  }

  @Test
  void anOperatorLearnsHowToSkipABatchThatIsFetchedAgainAndAgainAndOtherShardsGoOn() {
    begin(false, false);
    assign(owned(S0, 5, false));
    answer(take(ReadLease.class), lease(S0, 5, 0, -1, null));
    answer(take(CallAssign.class), null);
    Batch corrupt = batch("a", "b", "c");
    corrupt.bytes().put(corrupt.length() - 1, (byte) 1);
    List<String> reports = new ArrayList<>();
    int fetches = 0;
    for (long end = now + 130_000; now < end; tick(500)) {
      for (Fetch fetch : takeAll(Fetch.class)) {
        answer(fetch, answer(10, corrupt));
        fetches++;
      }
      reports.addAll(reports());
    }
    assertThat(fetches).as("in 130 s").isBetween(5, 20);
    assertThat(reports).hasSize(3);
    assertThat(reports)
        .containsOnly(
            "t/0@5: the batch of offsets 10 to 12 cannot be read: it is fetched again until it can"
                + " be; to skip it, reset group g on shard 0 of topic t to offset 13");
    assign(owned(S0, 5, false), owned(S1, 5, false));
    OwnedShard other = run(S1, "d");
    core.finished(next(0), now);
    assertThat(other.ownership().shard()).isEqualTo(S1);
  }

  private void takeOver(Shard shard, long committed, Skipped skipped) {
    assign(new Assignment.Owned("t", shard, 5, false, 0, committed, null, null, skipped));
    take(CallAssign.class);
  }

  /** Who goes on behind the gap cannot see it, and the log of its owner is where people look. */
  @Test
  void anOwnerThatBeginsBehindDroppedMessagesSaysSo() {
    begin(false, false);
    takeOver(S0, 20, new Skipped(5, 19, 15, 0));
    assertThat(reports())
        .containsExactly(
            "t/0@5: retention dropped messages before the group had consumed them: 15 messages,"
                + " offsets 5 to 19");
    takeOver(S1, 21, new Skipped(5, 19, 15, 0));
    assertThat(reports())
        .as("one before it has said so")
        .noneMatch(text -> text.contains("retention"));
  }

  private List<String> reports() {
    return takeAll(Report.class).stream().map(Report::text).toList();
  }

  @Test
  void aRetryThatCannotBeReadKeepsNobodyElseWaiting() {
    options.setOrder(ConsumerOptions.Order.NONE);
    begin(false, false);
    assign(owned(S0, 5, false));
    answer(take(ReadLease.class), lease(S0, 5, 9, -1, null));
    answer(take(CallAssign.class), null);
    Fetch fetch = take(Fetch.class);
    answer(fetch, new FetchAnswer(0, 9, 2, List.of()));
    tick(0);
    FetchRetries asked = take(FetchRetries.class);
    byte[] sound = MessageCodec.encode(new Message(null, Map.of(), 0, new byte[1]));
    RetryAnswer answer =
        new RetryAnswer(
            -1,
            List.of(
                new RetryAnswer.Retry(3, 1, Outcome.NO_KEY, new byte[] {9, 9}),
                new RetryAnswer.Retry(4, 1, Outcome.NO_KEY, sound)),
            RetryAnswer.Known.NOTHING,
            List.of());
    answer(asked, answer);
    next(4);
    assertThat(take(RecordOutcomes.class).command().outcomes())
        .singleElement()
        .isInstanceOfSatisfying(
            Outcome.Failed.class,
            failed -> {
              assertThat(failed.offset()).isEqualTo(3);
              assertThat(failed.way()).isEqualTo(Outcome.Way.DEAD);
            });
  }

  /** A consumer that has asked for the retries of a shard. */
  private FetchRetries asksForRetries() {
    options.setOrder(ConsumerOptions.Order.NONE);
    begin(false, false);
    assign(owned(S0, 5, false));
    answer(take(ReadLease.class), lease(S0, 5, 90, -1, null));
    answer(take(CallAssign.class), null);
    Fetch fetch = take(Fetch.class);
    answer(fetch, new FetchAnswer(0, 90, 2, List.of()));
    tick(0);
    return take(FetchRetries.class);
  }

  private static RetryAnswer retries(Batch batch, long... offsets) {
    List<RetryAnswer.Retry> due =
        LongStream.of(offsets)
            .mapToObj(offset -> new RetryAnswer.Retry(offset, 1, Outcome.NO_KEY, null))
            .toList();
    List<PlacedBatch> batches = List.of(new PlacedBatch(30, batch.bytes().array()));
    return new RetryAnswer(-1, due, RetryAnswer.Known.NOTHING, batches);
  }

  @Test
  void retriesComeOutOfACompressedBatch() {
    FetchRetries asked = asksForRetries();
    answer(asked, retries(compressed(50), 33, 79));
    Task first = next(33);
    Task second = next(79);
    assertThat(List.of(first.attempt(), second.attempt())).containsExactly(2, 2);
    assertThat(second.message().payload()).hasSize(60);
    core.failed(second, new IllegalStateException("no"), now);
    assertThat(take(RecordOutcomes.class).command().outcomes())
        .as("the log has the message")
        .allMatch(each -> each.copy() == null);
  }

  @Test
  void retriesOfADamagedBatchAreAskedForAgain() {
    FetchRetries asked = asksForRetries();
    Batch damaged = compressed(50);
    damaged.bytes().put(60, (byte) (damaged.bytes().get(60) + 1));
    answer(asked, retries(damaged, 33));
    assertThat(core.next(now)).isNull();
    tick(5_000);
    asked = take(FetchRetries.class);
    answer(asked, retries(compressed(50), 33));
    next(33);
  }

  @Test
  void deadLettersThatArePutBackAndFailAgainAreNoOutage() {
    FetchRetries asked = asksForRetries();
    byte[] sound = MessageCodec.encode(new Message(null, Map.of(), 0, new byte[1]));
    List<RetryAnswer.Retry> putBack =
        LongStream.range(0, 2 * Breaker.LOOKED_AT)
            .mapToObj(offset -> new RetryAnswer.Retry(offset, 0, Outcome.NO_KEY, sound))
            .toList();
    answer(asked, new RetryAnswer(-1, putBack, RetryAnswer.Known.NOTHING, List.of()));
    for (Task task = core.next(now); task != null; task = core.next(now)) {
      core.failed(task, new IllegalStateException("no"), now);
    }
    assertThat(core.breakerOpen()).isFalse();
    List<Outcome> outcomes = new ArrayList<>();
    takeAll(RecordOutcomes.class).forEach(record -> outcomes.addAll(record.command().outcomes()));
    assertThat(outcomes).as("each counts as an attempt").isNotEmpty();
  }

  @Test
  void aRetryThatCannotBeUnpackedBecomesADeadLetter() {
    FetchRetries asked = asksForRetries();
    Batch batch = compressed(50);
    batch.bytes().putInt(Batch.HEADER_BYTES, 1_000);
    batch.stamped(1, 0, 0);
    answer(asked, retries(batch, 33));
    assertThat(core.next(now)).isNull();
    assertThat(take(RecordOutcomes.class).command().outcomes())
        .singleElement()
        .isInstanceOfSatisfying(
            Outcome.Failed.class, failed -> assertThat(failed.way()).isEqualTo(Outcome.Way.DEAD));
  }

  @Test
  void aHandOverCarriesStateAndPositionTogether() {
    start(ConsumerOptions.Order.SHARD);
    assign(owned(S0, 5, false));
    byte[] former = {1, 2};
    answer(take(ReadLease.class), lease(S0, 5, 50, 40, former));
    CallAssign call = take(CallAssign.class);
    assertThat(call.state()).isEqualTo(former);
    assertThat(call.shard()).isEqualTo(new ShardContext("t", 0, 5, "m", 40, 0));
    answer(call, null);
    Fetch fetch = take(Fetch.class);
    assertThat(fetch.request().offset()).isEqualTo(40);
    answer(fetch, answer(38, batch("a", "b", "c", "d")));
    core.finished(next(40), now);
    Task running = next(41);
    assign(owned(S0, 5, true));
    assertThat(core.next(now)).isNull();
    assertThat(takeAll(CallRelease.class)).isEmpty();
    core.finished(running, now);
    CallRelease release = take(CallRelease.class);
    assertThat(release.shard().offset()).isEqualTo(42);
    answer(release, new byte[] {9});
    Release released = take(Release.class);
    DataCommand.Release command = released.command();
    assertThat(command.offset()).isEqualTo(42);
    assertThat(command.stateOffset()).isEqualTo(42);
    assertThat(command.state()).containsExactly(9);
    answer(released, Reply.DONE);
    take(HeartbeatNow.class);
    assertThat(core.owned()).isZero();
    // An assignment that was made before the dispatcher heard of the release.
    assign(owned(S0, 5, true));
    assertThat(core.owned()).isZero();
    assign(owned(S0, 6, false));
    assertThat(core.owned()).isEqualTo(1);
  }

  @Test
  void withoutStateTheProgressOfTheFormerOwnerStays() {
    start(ConsumerOptions.Order.SHARD);
    assign(owned(S0, 5, false));
    answer(take(ReadLease.class), lease(S0, 5, 50, 40, new byte[] {1}));
    answer(take(CallAssign.class), null);
    assign(owned(S0, 5, true));
    OwnedShard owned = (OwnedShard) take(CallRelease.class).owned();
    owned.release.stateGiven(null, new IllegalStateException("broken"), now);
    var command = take(Release.class).command();
    assertThat(command.offset()).isEqualTo(50);
    assertThat(command.stateOffset()).isEqualTo(-1);
    assertThat(command.state()).isNull();
    assertThat(take(Report.class).text()).contains("released without state");
  }

  @Test
  void aStateThatIsTooLargeIsNotSent() {
    start(ConsumerOptions.Order.SHARD);
    assign(owned(S0, 1, false));
    OwnedShard owned = run(S0, "a");
    assign(owned(S0, 1, true));
    take(CallRelease.class);
    owned.release.stateGiven(new byte[Limits.STATE_BYTES_MAX + 1], null, now);
    assertThat(take(Release.class).command().state()).isEmpty();
    assertThat(take(Report.class).text()).contains("1048577 bytes, at most 1048576");
  }

  @Test
  void aShardThatDrainsBeforeItRanIsGivenOnUntouched() {
    start(ConsumerOptions.Order.SHARD);
    assign(owned(S0, 5, true));
    answer(take(ReadLease.class), lease(S0, 5, 50, 40, new byte[] {1}));
    var command = take(Release.class).command();
    assertThat(command.offset()).isEqualTo(50);
    assertThat(command.state()).isNull();
    assertThat(takeAll(CallAssign.class)).isEmpty();
    assertThat(takeAll(CallRelease.class)).isEmpty();
  }

  @Test
  void aLostShardIsNotCommitted() {
    start(ConsumerOptions.Order.NONE);
    assign(owned(S0, 1, false));
    run(S0, "a", "b", "c");
    Task running = next(0);
    assign();
    assertThat(take(CallLost.class).shard().epoch()).isEqualTo(1);
    assertThat(core.next(now)).isNull();
    core.finished(running, now);
    tick(10_000);
    assertThat(takeAll(CommitPositions.class)).isEmpty();
    assertThat(takeAll(Release.class)).isEmpty();
    assertThat(core.environment.flow.messages).isZero();
    assertThat(core.environment.flow.bytes).isZero();
  }

  @Test
  void aNewHoldAwaitsTheHandlersOfTheFormer() {
    start(ConsumerOptions.Order.SHARD);
    assign(owned(S0, 1, false));
    run(S0, "a", "b");
    Task running = next(0);
    assign(owned(S0, 2, false));
    tick(50);
    assertThat(takeAll(ReadLease.class)).isEmpty();
    core.finished(running, now);
    tick(50);
    take(ReadLease.class);
  }

  @Test
  void aNewHoldOfTheSameEpochAwaitsTheCommitOfTheFormer() {
    start(ConsumerOptions.Order.NONE);
    assign(owned(S0, 5, false));
    OwnedShard former = run(S0, "a", "b");
    core.finished(next(0), now);
    tick(6_000);
    commit();
    // An answer that was out of date.
    assign();
    assign(owned(S0, 5, false));
    tick(100);
    assertThat(takeAll(ReadLease.class)).as("of a lease that is about to change").isEmpty();
    answer(sent, Reply.DONE);
    tick(100);
    assertThat(take(ReadLease.class).owned()).isNotSameAs(former);
  }

  @Test
  void aNewHoldOfTheSameEpochAwaitsTheFailuresThatTheFormerHasTold() {
    start(ConsumerOptions.Order.NONE);
    assign(owned(S0, 5, false));
    OwnedShard former = run(S0, "a", "b");
    core.failed(next(0), new IllegalStateException("broken"), now);
    tick(100);
    RecordOutcomes told = take(RecordOutcomes.class);
    assign();
    assign(owned(S0, 5, false));
    tick(100);
    assertThat(takeAll(ReadLease.class)).as("of a lease that is about to change").isEmpty();
    refuse(told, new RefusedException(Refusal.INDETERMINATE, "lost"));
    tick(100);
    assertThat(take(ReadLease.class).owned()).isNotSameAs(former);
  }

  /** A hold of epoch 5 whose commit is on its way. */
  private void committing() {
    start(ConsumerOptions.Order.NONE);
    assign(owned(S0, 5, false));
    run(S0, "a", "b");
    core.finished(next(0), now);
    tick(6_000);
    commit();
  }

  /** A commit or a failure that is taken after the lease was read would be handled again. */
  @Test
  void aNewHoldOfAnEpochWhoseCommitMayStillBeTakenIsReleasedAtOnce() {
    committing();
    assign();
    refuse(sent, refused(Refusal.INDETERMINATE));
    // The former is forgotten by then, its doubt is not.
    tick(100);
    assign(owned(S0, 5, false));
    ReadLease read = take(ReadLease.class);
    answer(read, lease(S0, 5, 0, -1, null));
    Release release = take(Release.class);
    assertThat(release.command().epoch()).isEqualTo(5);
    assertThat(release.command().offset()).isZero();
    assertThat(takeAll(CallAssign.class)).isEmpty();
    answer(release, Reply.DONE);
    takeAll(Fetch.class);
    assign(owned(S0, 6, false));
    assertThat(run(S0, "a", "b").ownership().epoch()).isEqualTo(6);
  }

  /** An answer may be wrong: a shard that was lost to it is named again. */
  @Test
  void whatHasBegunDoesNotBeginAgainUnderTheSameEpoch() {
    start(ConsumerOptions.Order.NONE);
    assign(owned(S0, 5, false));
    run(S0, "a", "b");
    core.finished(next(0), now);
    assign();
    takeAll(Fetch.class);
    tick(100);
    assign(owned(S0, 5, false));
    answer(take(ReadLease.class), lease(S0, 5, 0, -1, null));
    Release release = take(Release.class);
    assertThat(release.command().offset()).isZero();
    assertThat(core.next(now)).isNull();
    answer(release, Reply.DONE);
    assign(owned(S0, 6, false));
    assertThat(run(S0, "a", "b").ownership().epoch()).isEqualTo(6);
  }

  @Test
  void aLaterCommitThatWasTakenLeavesNoDoubt() {
    committing();
    refuse(sent, refused(Refusal.INDETERMINATE));
    tick(6_000);
    commit();
    answer(sent, Reply.DONE);
    assign();
    takeAll(Fetch.class);
    assign(owned(S0, 5, false));
    run(S0, "b");
  }

  @Test
  void aNewHoldOfAnEpochWhoseReleaseMayStillBeTakenIsReleasedAgain() {
    start(ConsumerOptions.Order.NONE);
    assign(owned(S0, 5, false));
    run(S0, "a");
    assign(owned(S0, 5, true));
    tick(100);
    answer(take(CallRelease.class), null);
    OwnedShard former = (OwnedShard) take(Release.class).owned();
    assign();
    assign(owned(S0, 5, false));
    assertThat(takeAll(ReadLease.class)).as("while its answer is awaited").isEmpty();
    former.release.releaseFailed(refused(Refusal.INDETERMINATE), now);
    tick(100);
    answer(take(ReadLease.class), lease(S0, 5, 0, -1, null));
    assertThat(take(Release.class).owned()).isNotSameAs(former);
  }

  @Test
  void aFencedCommitLosesTheShardAndTheNextAssignmentAttachesAgain() {
    start(ConsumerOptions.Order.SHARD);
    assign(owned(S0, 1, false));
    run(S0, "a", "b");
    core.finished(next(0), now);
    tick(50);
    assertThat(commit().offset()).isEqualTo(1);
    refuse(sent, refused(Refusal.FENCED));
    take(CallLost.class);
    assertThat(core.owned()).isZero();
    assign(1, revision, owned(S0, 1, false));
    ReadLease read = take(ReadLease.class);
    answer(read, lease(S0, 2, 1, -1, null));
    assertThat(core.owned()).isZero();
    assertThat(takeAll(CallLost.class)).isEmpty();
  }

  @Test
  void aCommitIsRepeatedWhileTheShardIsOwned() {
    start(ConsumerOptions.Order.SHARD);
    assign(owned(S0, 1, false));
    run(S0, "a", "b");
    core.finished(next(0), now);
    tick(5_000);
    commit();
    refuse(sent, refused(Refusal.INDETERMINATE));
    core.finished(next(1), now);
    tick(5_000);
    assertThat(commit().offset()).isEqualTo(2);
    answer(sent, Reply.DONE);
    tick(5_000);
    assertThat(takeAll(CommitPositions.class)).isEmpty();
  }

  @Test
  void halfOfAThousandMessagesAreCommittedAtOnce() {
    start(ConsumerOptions.Order.NONE);
    assign(owned(S0, 1, false));
    String[] keys = new String[1_500];
    run(S0, keys);
    now += 1_000;
    for (int i = 0; i < 500; i++) {
      assertThat(takeAll(CommitPositions.class)).isEmpty();
      core.finished(next(i), now);
    }
    assertThat(commit().offset()).isEqualTo(500);
  }

  @Test
  void aFailedMessageIsTriedAgainInPlaceAndHoldsUpItsShard() {
    start(ConsumerOptions.Order.SHARD);
    assign(owned(S0, 1, false));
    run(S0, "a", "b");
    long[] waits = {1_000, 5_000, 30_000, 120_000, 600_000};
    Task task = next(0);
    for (int i = 0; i < waits.length; i++) {
      assertThat(task.delivery("m").attempt()).isEqualTo(i + 1);
      fail(task);
      tick(waits[i] * 8 / 10 - 1);
      assertThat(core.next(now)).isNull();
      tick(waits[i] * 4 / 10 + 1);
      task = next(0);
    }
    core.finished(task, now);
    next(1);
  }

  @Test
  void aFailedMessageHoldsUpOnlyItsKey() {
    start(ConsumerOptions.Order.KEY);
    assign(owned(S0, 1, false));
    run(S0, "a", "b", "a", "b", null);
    fail(next(0));
    Task b = next(1);
    Task none = next(4);
    assertThat(core.next(now)).isNull();
    core.finished(b, now);
    core.finished(none, now);
    core.finished(next(3), now);
    assertThat(core.next(now)).isNull();
    tick(1_200);
    core.finished(next(0), now);
    core.finished(next(2), now);
    assertThat(core.environment.flow.messages).isZero();
  }

  @Test
  void whoClosesWaitsForHandlersOfLostShards() {
    start(ConsumerOptions.Order.NONE);
    assign(owned(S0, 1, false));
    OwnedShard owned = run(S0, "a");
    Task running = next(0);
    owned.lose("its topic was deleted", now);
    core.close(now, Long.MAX_VALUE);
    assertThat(core.drained()).isFalse();
    core.finished(running, now);
    assertThat(core.drained()).isTrue();
  }

  @Test
  void aFailedMessageBelowAFinishedOneIsFinishedBeforeARelease() {
    start(ConsumerOptions.Order.NONE);
    assign(owned(S0, 1, false));
    OwnedShard owned = run(S0, "a", "b", "c", "d");
    core.finished(next(0), now);
    fail(next(1));
    core.finished(next(2), now);
    fail(next(3));
    core.close(now, Long.MAX_VALUE);
    take(CallDraining.class);
    Task again = next(1);
    assertThat(core.next(now)).as("nothing above it is finished").isNull();
    fail(again);
    tick(999);
    assertThat(core.next(now)).isNull();
    tick(1);
    core.finished(next(1), now);
    answer(take(CallRelease.class), null);
    assertThat(take(Release.class).command().offset()).isEqualTo(3);
    assertThat(core.drained()).isFalse();
    owned.release.released(now);
    assertThat(core.drained()).isTrue();
    assertThat(core.environment.flow.messages).isZero();
    assertThat(core.environment.flow.bytes).isZero();
  }

  @Test
  void whatIsParkedBelowAFinishedMessageIsFinishedBeforeARelease() {
    start(ConsumerOptions.Order.KEY);
    assign(owned(S0, 1, false));
    run(S0, "a", "a", "b", "a", "a", "b");
    Task zero = next(0);
    Task two = next(2);
    core.finished(two, now);
    Task five = next(5);
    assign(owned(S0, 1, true));
    fail(five);
    core.finished(zero, now);
    core.finished(next(1), now);
    answer(take(CallRelease.class), null);
    assertThat(take(Release.class).command().offset()).isEqualTo(3);
    assertThat(core.next(now)).isNull();
    assertThat(core.environment.flow.messages).isZero();
  }

  @Test
  void nothingOfALaneIsParkedAheadOfAMessageThatFoundNoRoom() {
    options.setOrder(ConsumerOptions.Order.KEY);
    begin(false, false);
    assign(owned(S0, 1, false));
    String[] keys = new String[600];
    Arrays.fill(keys, "a");
    run(S0, keys);
    fail(next(0));
    assertThat(core.next(now)).isNull();
    tick(1);
    RecordOutcomes parked = take(RecordOutcomes.class);
    List<Long> offsets = parked.command().outcomes().stream().map(Outcome::offset).toList();
    assertThat(offsets).as("others are still to be told").startsWith(1L).hasSizeLessThan(599);
    answer(parked, new Reply.OfOffsets(offsets));
    tick(1);
    assertThat(core.next(now)).isNull();
    assertThat(takeAll(RecordOutcomes.class)).isEmpty();
  }

  @Test
  void aMessageThatFailsAgainAndAgainHoldsUpAReleaseForTheLockTimeAtMost() {
    options.setLockTimeMillis(10_000);
    start(ConsumerOptions.Order.NONE);
    assign(owned(S0, 1, false));
    run(S0, "a", "b", "c");
    fail(next(0));
    core.finished(next(1), now);
    assign(owned(S0, 1, true));
    for (int second = 0; second < 8; second++) {
      fail(next(0));
      assertThat(takeAll(CallRelease.class)).isEmpty();
      tick(1_000);
    }
    // What is left of the time is onRelease's and the log's. Its state has offset 1 in it.
    answer(take(CallRelease.class), new byte[] {1});
    var command = take(Release.class).command();
    assertThat(command.offset()).isZero();
    assertThat(command.stateOffset()).isZero();
    assertThat(command.state()).isEmpty();
    assertThat(takeAll(Report.class)).last().asString().contains("without state");
    assertThat(core.environment.flow.messages).isZero();
  }

  /** Its attempts come at their times and count, and the last one ends the wait. */
  @Test
  void aHandoverWaitsForTheLastAttemptOfAMessageWhoseRetriesAreQuick() {
    options.setRetryDelaysMillis(List.of(50L));
    start(ConsumerOptions.Order.NONE);
    assign(owned(S0, 1, false));
    OwnedShard owned = run(S0, "a", "b");
    Task zero = next(0);
    core.finished(next(1), now);
    assign(owned(S0, 1, true));
    fail(zero);
    tick(100);
    Task again = next(0);
    assertThat(again.attempt).isEqualTo(2);
    core.failed(again, new IllegalStateException("broken"), now);
    RecordOutcomes last = take(RecordOutcomes.class);
    assertThat(((Outcome.Failed) last.command().outcomes().get(0)).way())
        .isEqualTo(Outcome.Way.DEAD);
    answer(last, new Reply.OfOffsets(List.of()));
    tick(1);
    answer(take(CallRelease.class), null);
    assertThat(take(Release.class).command().offset()).isEqualTo(2);
  }

  /** As in mode level, where messages end in any order, and what is in hand is given back. */
  @Test
  void aMessageThatIsGivenBackInAHandoverIsNoTroubleForWhoKeepsNoState() {
    options.setOrder(ConsumerOptions.Order.NONE);
    begin(false, false);
    assign(owned(S0, 1, false));
    OwnedShard owned = run(S0, "a", "b", "c");
    Task zero = next(0);
    core.finished(next(1), now);
    assign(owned(S0, 1, true));
    core.failed(zero, new GivenBackException("not wanted"), now);
    answer(take(CallRelease.class), null);
    assertThat(take(Release.class).command().offset()).isZero();
    assertThat(take(Report.class))
        .isEqualTo(
            new Report(
                Level.INFO,
                owned
                    + ": released at offset 0, where messages were given back;"
                    + " of those up to 2 some come twice",
                null));
  }

  @Test
  void aShardIsLetGoAtOnceThoughAllWorkersAreBusyAndFetchesAreUnderWay() {
    options.setParallel(1);
    start(ConsumerOptions.Order.KEY);
    assign(owned(S0, 1, false));
    run(S0, new String[1_000]);
    next(0);
    takeAll(Fetch.class);
    assign(owned(S0, 1, false), owned(S1, 1, false));
    OwnedShard other = run(S1, new String[1_000]);
    assertThat(core.next(now)).as("all workers are busy").isNull();
    assertThat(takeAll(Fetch.class)).isNotEmpty();
    assign(owned(S0, 1, false), owned(S1, 1, true));
    assertThat(take(CallRelease.class).owned()).isSameAs(other);
    other.release.stateGiven(new byte[Limits.STATE_BYTES_MAX], null, now);
    assertThat(take(Release.class).command().offset()).isZero();
    other.release.released(now);
    assertThat(core.owned()).isEqualTo(1);
  }

  @Test
  void whoWasToldOfAHandoverIsToldThatItIsCalledOff() {
    start(ConsumerOptions.Order.NONE);
    assign(owned(S0, 1, false));
    run(S0, "a", "b");
    Task zero = next(0);
    assign(owned(S0, 1, true));
    assertThat(take(CallDraining.class).shard().epoch()).isEqualTo(1);
    assertThat(takeAll(CallKept.class)).isEmpty();
    assign(owned(S0, 1, false));
    assertThat(take(CallKept.class).shard().epoch()).isEqualTo(1);
    core.finished(zero, now);
    assertThat(takeAll(CallRelease.class)).isEmpty();
  }

  private void pause(Assignment.Paused... paused) {
    core.paused(List.of(paused), now);
  }

  private static final Assignment.Paused ALL =
      new Assignment.Paused(Pause.ALL_TOPICS, Pause.ALL_SHARDS);

  /** A pause drops what has not begun, and the attempts that were made go on after it. */
  @Test
  void aMessageThatFailsInItsPlaceKeepsItsAttemptsInAPause() {
    start(ConsumerOptions.Order.SHARD);
    assign(owned(S0, 1, false));
    run(S0, "a", "b");
    fail(next(0));
    takeAll(Fetch.class);
    pause(ALL);
    pause();
    tick(ConsumerCore.TICK_MILLIS);
    Fetch again = take(Fetch.class);
    assertThat(again.request().offset()).isZero();
    answer(again, answer(0, batch("a", "b")));
    assertThat(core.next(now)).as("it waits for its next attempt").isNull();
    tick(1_300);
    assertThat(next(0).attempt()).isEqualTo(2);
  }

  /** What handlers need is under repair: not even what is here already begins. */
  @Test
  void whileTheGroupIsPausedNothingBeginsAndNothingIsLost() {
    options.setOrder(ConsumerOptions.Order.NONE).setParallel(2);
    begin(false, false);
    assign(owned(S0, 1, false));
    run(S0, new String[3_000]);
    Task zero = next(0);
    Task one = next(1);
    takeAll(Fetch.class);
    pause(ALL);
    core.finished(zero, now);
    fail(one);
    assertThat(core.next(now)).isNull();
    assertThat(core.environment.flow.messages).as("nothing is kept").isZero();
    tick(5_000);
    assertThat(commit().offset()).as("progress is committed").isEqualTo(2);
    answer(sent, Reply.DONE);
    tick(60_000);
    assertThat(core.next(now)).isNull();
    assertThat(takeAll(Fetch.class)).isEmpty();
    assertThat(takeAll(FetchRetries.class)).as("a retry is due").isEmpty();
    assertThat(takeAll(RecordOutcomes.class)).as("nothing counts as an attempt").isEmpty();
    assertThat(core.progress(now).get(0).stalledMillis()).as("nobody is stuck").isNull();

    pause();
    tick(ConsumerCore.TICK_MILLIS);
    assertThat(takeAll(FetchRetries.class)).hasSize(1);
    Fetch again = take(Fetch.class);
    assertThat(again.request().offset()).isEqualTo(2);
    answer(again, answer(2, batch(new String[5])));
    next(2);
  }

  @Test
  void whatIsPausedOfAGroupDoesNotStopTheRest() {
    start(ConsumerOptions.Order.SHARD);
    assign(owned(S0, 1, false));
    run(S0, new String[10]);
    takeAll(Fetch.class);
    assign(owned(S0, 1, false), owned(S1, 1, false));
    run(S1, new String[10]);
    pause(new Assignment.Paused(S0.topicId(), S0.shard()));
    Task task = core.next(now);
    assertThat(task.owner.ownership().shard()).isEqualTo(S1);
    assertThat(core.next(now)).isNull();
    pause(new Assignment.Paused(S0.topicId(), Pause.ALL_SHARDS));
    core.finished(task, now);
    assertThat(core.next(now)).isNull();
  }

  /** Level dispatchers have many messages that wait for members. Other shards need the room. */
  @Test
  void whatAHandlerGivesBackInAPauseIsFetchedAgainAfterIt() {
    options.setOrder(ConsumerOptions.Order.NONE).setParallel(4);
    begin(false, false);
    assign(owned(S0, 1, false));
    run(S0, "a", "b", "c", "d");
    Task zero = next(0);
    List<Task> others = List.of(next(1), next(2), next(3));
    takeAll(Fetch.class);
    pause(new Assignment.Paused(S0.topicId(), S0.shard()));
    others.forEach(task -> core.failed(task, new GivenBackException("it is paused"), now));
    tick(ConsumerCore.TICK_MILLIS);
    assertThat(core.environment.flow.messages).as("only what runs is kept").isEqualTo(1);
    core.finished(zero, now);
    tick(5_000);
    assertThat(core.next(now)).isNull();
    pause();
    tick(ConsumerCore.TICK_MILLIS);
    Fetch again = take(Fetch.class);
    assertThat(again.request().offset()).isEqualTo(1);
    answer(again, answer(1, batch("b", "c", "d")));
    assertThat(next(1).attempt()).isEqualTo(1);
    next(2);
    next(3);
  }

  /** The pause may have ended or begun while the shard was draining. */
  @Test
  void whoKeepsAShardHearsWhetherItIsPausedNow() {
    start(ConsumerOptions.Order.SHARD);
    assign(owned(S0, 1, false));
    run(S0, "a");
    next(0);
    assign(owned(S0, 1, true));
    take(CallDraining.class);
    pause(ALL);
    assertThat(takeAll(CallPaused.class)).isEmpty();
    assign(owned(S0, 1, false));
    take(CallKept.class);
    assertThat(take(CallPaused.class).on()).isTrue();
  }

  @Test
  void aShardOfAPausedGroupIsHandedOverAtOnce() {
    options.setOrder(ConsumerOptions.Order.KEY).setParallel(3);
    begin(false, false);
    assign(owned(S0, 1, false));
    run(S0, "a", "b", "c", "a");
    Task zero = next(0);
    core.finished(next(1), now);
    Task two = next(2);
    pause(ALL);
    core.failed(zero, new GivenBackException("not now"), now);
    assign(owned(S0, 1, true));
    assertThat(takeAll(CallRelease.class)).as("one runs").isEmpty();
    core.finished(two, now);
    answer(take(CallRelease.class), null);
    assertThat(take(Release.class).command().offset()).isZero();
    assertThat(takeAll(RecordOutcomes.class)).isEmpty();
  }

  /** Answers and pushes come on different ways: the older one may come last. */
  @Test
  void anOlderAssignmentEndsNoPause() {
    options.setOrder(ConsumerOptions.Order.NONE);
    begin(false, false);
    Assignment.Owned owned = owned(S0, 1, false);
    Assignment before =
        new Assignment("g", "m", "i", 1, 1, List.of(owned), null).withPauses(Set.of());
    core.assigned(before, now);
    run(S0, "a");
    Assignment paused =
        before.at(2).withPauses(Set.of(new Pause("g", Pause.ALL_TOPICS, Pause.ALL_SHARDS)));
    for (Assignment each : List.of(paused, before, before.asUnchanged())) {
      core.assigned(each, now);
      core.paused(each, now);
      assertThat(core.isPaused()).isTrue();
    }
    core.assigned(before.at(3), now);
    core.paused(before.at(3), now);
    assertThat(core.isPaused()).isFalse();
  }

  @Test
  void aShardThatComesWhileTheGroupIsPausedBeginsAfterIt() {
    options.setOrder(ConsumerOptions.Order.NONE);
    begin(false, false);
    pause(ALL);
    assign(owned(S0, 1, false));
    answer(take(ReadLease.class), lease(S0, 1, 3, -1, null));
    answer(take(CallAssign.class), null);
    tick(5_000);
    assertThat(takeAll(Fetch.class)).isEmpty();
    pause();
    assertThat(take(Fetch.class).request().offset()).isEqualTo(3);
  }

  /** A full disk, or a closed output, is no failure of the message that met it. */
  @Test
  void aMemberThatCannotGoOnEndsAndGivesEverythingBackUnfailed() {
    options.setRetryDelaysMillis(List.of()).setParallel(3);
    options.setOrder(ConsumerOptions.Order.KEY);
    begin(false, false);
    assign(owned(S0, 1, false));
    run(S0, "a", "b", "c", "a", "d");
    Task zero = next(0);
    Task one = next(1);
    Task two = next(2);
    takeAll(Report.class);
    core.failed(zero, new CompletionException(new MemberFaultException("the disk is full")), now);
    assertThat(core.next(now)).as("nothing begins any more").isNull();
    core.finished(one, now);
    core.failed(two, new MemberFaultException("the disk is full"), now);
    tick(5_000);
    assertThat(core.next(now)).isNull();
    assertThat(takeAll(RecordOutcomes.class)).isEmpty();
    assertThat(take(Stop.class).text())
        .isEqualTo("the consumer ends, and leaves all messages to others");
    core.close(now, 10_000);
    answer(take(CallRelease.class), null);
    Release release = take(Release.class);
    assertThat(release.command().offset()).isZero();
    assertThat(takeAll(RecordOutcomes.class)).isEmpty();
    answer(release, Reply.DONE);
    assertThat(core.drained()).isTrue();
    assertThat(core.environment.flow.messages).isZero();
  }

  @Test
  void aMemberWhoseOnAssignCannotRunEnds() {
    start(ConsumerOptions.Order.SHARD);
    assign(owned(S0, 1, false));
    answer(take(ReadLease.class), lease(S0, 1, 3, -1, null));
    refuse(take(CallAssign.class), new MemberFaultException("there is no shell"));
    take(Stop.class);
    tick(60_000);
    assertThat(takeAll(CallAssign.class)).isEmpty();
    core.close(now, 10_000);
    assertThat(take(Release.class).command().offset()).isEqualTo(3);
  }

  /** A producer whose spool is full, or a cluster that is away, is no failure of the message. */
  @Test
  void whatIsRefusedForNowIsTriedAgainAndDoesNotCount() {
    options.setRetryDelaysMillis(List.of());
    start(ConsumerOptions.Order.SHARD);
    assign(owned(S0, 1, false));
    run(S0, "a", "b");
    for (int i = 0; i < 5; i++) {
      Task zero = next(0);
      assertThat(zero.attempt()).isEqualTo(1);
      core.failed(zero, refused(Refusal.OVERLOADED), now);
      assertThat(core.next(now)).isNull();
      tick(1_000);
    }
    core.finished(next(0), now);
    core.failed(next(1), refused(Refusal.TOO_LARGE), now);
    assertThat(take(RecordOutcomes.class).command().outcomes())
        .as("another refusal is the message's own")
        .hasSize(1);
  }

  /** Unpacked messages take several times the memory of their bytes. */
  @Test
  void noMoreMessagesAreUnpackedThanTheLimit() {
    options.setPendingMessagesMax(100).setParallel(8);
    start(ConsumerOptions.Order.KEY);
    assign(owned(S0, 1, false), owned(S1, 1, false));
    String[] keys = new String[5_000];
    Arrays.fill(keys, "a");
    List<OwnedShard> shards = new ArrayList<>();
    for (ReadLease read : takeAll(ReadLease.class)) {
      answer(read, lease(read.owned().shard(), 1, 0, -1, null));
      shards.add((OwnedShard) read.owned());
    }
    takeAll(CallAssign.class).forEach(call -> answer(call, null));
    for (Fetch fetch : takeAll(Fetch.class)) {
      answer(fetch, answer(0, batch(keys)));
    }
    List<Task> running = new ArrayList<>(List.of(core.next(now), core.next(now)));
    int handled = 0;
    while (!running.isEmpty()) {
      assertThat(core.next(now)).as("one key in each shard").isNull();
      assertThat(shards.stream().mapToLong(shard -> shard.window().span()).sum())
          .isLessThanOrEqualTo(100 + new ConsumerOptions().getHandOutMessages());
      core.finished(running.remove(0), now);
      handled++;
      tick(ConsumerCore.TICK_MILLIS);
      Task task = core.next(now);
      if (task != null) {
        running.add(task);
      }
    }
    assertThat(handled).isEqualTo(10_000);
    assertThat(core.environment.flow.messages).isZero();
    assertThat(core.environment.flow.packed).isZero();
  }

  @Test
  void aMessageThatIsGivenBackHoldsUpNothing() {
    start(ConsumerOptions.Order.NONE);
    assign(owned(S0, 1, false));
    run(S0, "a", "b", "c");
    Task zero = next(0);
    core.finished(next(1), now);
    assign(owned(S0, 1, true));
    core.failed(zero, new GivenBackException("not wanted"), now);
    assertThat(core.next(now)).isNull();
    answer(take(CallRelease.class), null);
    assertThat(take(Release.class).command().offset()).isZero();
  }

  @Test
  void theFirstOwnerThatKeepsStateTellsWhereTheEmptyStateStands() {
    start(ConsumerOptions.Order.SHARD);
    assign(owned(S0, 1, false));
    answer(take(ReadLease.class), lease(S0, 1, 7, -1, null));
    CallAssign call = take(CallAssign.class);
    assertThat(call.state()).isNull();
    answer(call, null);
    Fetch fetch = take(Fetch.class);
    answer(fetch, answer(7, batch("a", "b")));
    core.finished(next(7), now);
    tick(5_000);
    var commit = commit();
    assertThat(commit.offset()).isEqualTo(8);
    assertThat(commit.stateOffset()).isEqualTo(7);
    answer(sent, Reply.DONE);
    takeAll(Fetch.class);
    // It dies; the next owner counts from there.
    assign(owned(S0, 2, false));
    answer(take(ReadLease.class), lease(S0, 2, 8, 7, new byte[0]));
    call = take(CallAssign.class);
    assertThat(call.state()).isNull();
    assertThat(call.shard().offset()).isEqualTo(7);
    answer(call, null);
    fetch = take(Fetch.class);
    answer(fetch, answer(7, batch("a", "b")));
    core.finished(next(7), now);
    assign(owned(S0, 2, true));
    refuse(take(CallRelease.class), new IllegalStateException());
    var release = take(Release.class).command();
    assertThat(release.offset()).isEqualTo(8);
    assertThat(release.stateOffset()).isEqualTo(7);
    assertThat(release.state()).isEmpty();
  }

  @Test
  void aHandlerWithoutStateOfItsOwnSaysNothingOfState() {
    options.setOrder(ConsumerOptions.Order.SHARD);
    begin(true, false);
    assign(owned(S0, 1, false));
    run(S0, "a");
    core.finished(next(0), now);
    tick(5_000);
    assertThat(commit().stateOffset()).isEqualTo(-1);
    assign(owned(S0, 1, true));
    answer(take(CallRelease.class), null);
    var release = take(Release.class).command();
    assertThat(release.stateOffset()).isEqualTo(-1);
    assertThat(release.state()).isNull();
  }

  @Test
  void closingIsToldAtOnceUnlessThereIsNothingToLetGo() {
    start(ConsumerOptions.Order.SHARD);
    core.close(now, Long.MAX_VALUE);
    assertThat(takeAll(HeartbeatNow.class)).isEmpty();
    assertThat(core.drained()).isTrue();

    start(ConsumerOptions.Order.SHARD);
    assign(owned(S0, 1, false));
    run(S0, "a");
    Task task = next(0);
    core.close(now, Long.MAX_VALUE);
    take(HeartbeatNow.class);
    assertThat(core.drained()).isFalse();
    core.finished(task, now);
    answer(take(CallRelease.class), null);
    answer(take(Release.class), Reply.DONE);
    assertThat(core.drained()).isTrue();
  }

  @Test
  void aDrainThatIsCalledOffGoesOnWithoutRepeatingWhatIsFinished() {
    start(ConsumerOptions.Order.NONE);
    assign(owned(S0, 1, false));
    run(S0, "a", "b", "c", "d");
    Task zero = next(0);
    core.finished(next(1), now);
    assign(owned(S0, 1, true));
    assign(owned(S0, 1, false));
    Fetch fetch = takeAll(Fetch.class).get(1);
    assertThat(fetch.request().offset()).as("after what was begun").isEqualTo(2);
    answer(fetch, answer(0, batch("a", "b", "c", "d")));
    fail(zero);
    core.finished(next(2), now);
    core.finished(next(3), now);
    assertThat(core.next(now)).isNull();
    tick(1_200);
    core.finished(next(0), now);
    assertThat(core.environment.flow.messages).isZero();
    assertThat(((OwnedShard) fetch.owned()).window().committed()).isEqualTo(4);
  }

  /** The log says that there is nothing below {@code end}, which is the end of the shard. */
  private OwnedShard nothingUpTo(long end) {
    Fetch fetch = take(Fetch.class);
    refuse(fetch, new RefusedException.OutOfRange(end, end));
    return (OwnedShard) fetch.owned();
  }

  /** They had been handed out, but not begun, when the pause sent them back to the log. */
  @Test
  void messagesThatAreDroppedDuringAPauseHoldUpNoCommit() {
    start(ConsumerOptions.Order.KEY);
    assign(owned(S0, 1, false));
    run(S0, "a", "a", "a", "a");
    Task zero = next(0);
    assertThat(core.next(now)).as("the others wait for the first").isNull();
    pause(ALL);
    core.finished(zero, now);
    pause();
    List<Fetch> fetches = takeAll(Fetch.class);
    Fetch fetch = fetches.get(fetches.size() - 1);
    assertThat(fetch.request().offset()).isEqualTo(1);
    refuse(fetch, new RefusedException.OutOfRange(3, 4));
    Fetch again = take(Fetch.class);
    answer(again, answer(3, batch("a")));
    core.finished(next(3), now);
    assertThat(((OwnedShard) again.owned()).window().committed()).isEqualTo(4);
  }

  @Test
  void whatIsLostAtTheEndOfAShardCountsAsConsumedWithWhatIsBeforeIt() {
    start(ConsumerOptions.Order.SHARD);
    assign(owned(S0, 1, false));
    run(S0, "a", "b", "c");
    Task zero = next(0);
    OwnedShard owned = nothingUpTo(5);
    assertThat(take(Fetch.class).request().offset()).isEqualTo(5);
    core.finished(zero, now);
    core.finished(next(1), now);
    assertThat(owned.window().committed()).isEqualTo(2);
    core.finished(next(2), now);
    assertThat(core.next(now)).isNull();
    assertThat(owned.window().committed()).isEqualTo(5);
    tick(5_000);
    assertThat(commit().offset()).isEqualTo(5);
    assertThat(owned.reports.lag()).isZero();
  }

  @Test
  void whatIsLostBehindMessagesThatRunCountsWhenTheyHaveEnded() {
    start(ConsumerOptions.Order.NONE);
    assign(owned(S0, 1, false));
    run(S0, "a", "b");
    Task zero = next(0);
    Task one = next(1);
    OwnedShard owned = nothingUpTo(5);
    core.finished(one, now);
    assertThat(owned.window().committed()).isZero();
    core.finished(zero, now);
    assertThat(owned.window().committed()).isEqualTo(5);
  }

  @Test
  void whatIsDroppedBeforeALostEndIsNotSkippedWithIt() {
    start(ConsumerOptions.Order.SHARD);
    assign(owned(S0, 1, false));
    run(S0, "a", "b", "c");
    Task zero = next(0);
    nothingUpTo(5);
    take(Fetch.class);
    assign(owned(S0, 1, true));
    assign(owned(S0, 1, false));
    Fetch fetch = take(Fetch.class);
    assertThat(fetch.request().offset()).isEqualTo(1);
    answer(fetch, answer(0, batch("a", "b")));
    core.finished(zero, now);
    core.finished(next(1), now);
    assertThat(core.next(now)).isNull();
    assertThat(((OwnedShard) fetch.owned()).window().committed()).isEqualTo(2);
    fetch = take(Fetch.class);
    assertThat(fetch.request().offset()).isEqualTo(2);
    answer(fetch, answer(2, batch("c")));
    OwnedShard owned = nothingUpTo(5);
    core.finished(next(2), now);
    assertThat(owned.window().committed()).isEqualTo(5);
  }

  @Test
  void olderAssignmentsAreIgnored() {
    start(ConsumerOptions.Order.SHARD);
    assign(2, 5, owned(S0, 1, false));
    assign(2, 4);
    assign(1, 9);
    assertThat(core.owned()).isEqualTo(1);
    core.assigned(new Assignment("g", "m", "another", 9, 9, List.of(), null), now);
    assertThat(core.owned()).isEqualTo(1);
    assign(3, 0);
    assertThat(core.owned()).isZero();
  }

  @Test
  void aReleaseWhoseAnswerWasLostIsNotALoss() {
    start(ConsumerOptions.Order.SHARD);
    assign(owned(S0, 1, false));
    OwnedShard owned = run(S0, "a");
    assign(owned(S0, 1, true));
    answer(take(CallRelease.class), null);
    take(Release.class);
    owned.release.releaseFailed(refused(Refusal.INDETERMINATE), now);
    tick(300);
    take(Release.class);
    owned.release.releaseFailed(refused(Refusal.FENCED), now);
    assertThat(owned.state()).isEqualTo(OwnedShardState.RELEASED);
    assertThat(takeAll(CallLost.class)).isEmpty();
  }

  @Test
  void noHandlerStartsBehindTheFence() {
    start(ConsumerOptions.Order.NONE);
    assign(owned(S0, 1, false));
    run(S0, "a", "b", "c");
    long sent = now;
    now = sent + 4_000;
    next(0);
    now++;
    assertThat(core.next(now)).isNull();
    core.heartbeatAnswered(sent + 10);
    next(1);
    core.link(false, now);
    assertThat(core.next(now)).isNull();
    core.link(true, now);
    next(2);
  }

  @Test
  void aShardThatIsStuckDoesNotStallOthers() {
    options.setPendingMessagesMax(10);
    start(ConsumerOptions.Order.SHARD);
    assign(owned(S0, 1, false));
    run(S0, new String[20]);
    fail(next(0));
    assertThat(core.environment.flow.paused).isTrue();
    assertThat(takeAll(Fetch.class)).isEmpty();
    assign(owned(S0, 1, false), owned(S1, 1, false));
    run(S1, "a", "b");
    Task task = next(0);
    assertThat(task.owner.ownership().shard()).isEqualTo(S1);
    core.finished(task, now);
    core.finished(next(1), now);
    assertThat(take(Fetch.class).request().shard()).isEqualTo(S1);
  }

  @Test
  void aShardFetchesAgainWhenHalfOfItsLastAnswerIsLeft() {
    options.setPendingMessagesMax(10);
    start(ConsumerOptions.Order.SHARD);
    assign(owned(S0, 1, false));
    OwnedShard shard = run(S0, new String[20]);
    for (int round = 0; round < 3; round++) {
      long from = 20 * round;
      for (long offset = from; offset < from + (round == 0 ? 10 : 20); offset++) {
        assertThat(takeAll(Fetch.class)).as("before offset " + offset).isEmpty();
        core.finished(next(round == 0 ? offset : offset - 10), now);
      }
      Fetch fetch = take(Fetch.class);
      assertThat(fetch.request().offset()).isEqualTo(from + 20);
      assertThat(fetch.request().messagesMax()).as("one batch").isEqualTo(1);
      answer(fetch, answer(from + 20, batch(new String[20])));
      assertThat(core.environment.flow.messages).as("it is taken").isEqualTo(30);
    }
    assertThat(takeAll(Fetch.class)).isEmpty();
    shard.lose("the test ends", now);
    assertThat(core.environment.flow.messages).isZero();
  }

  @Test
  void noMoreIsPendingThanTheLimitAndOneBatchOfEachShard() {
    options.setPendingMessagesMax(100);
    start(ConsumerOptions.Order.NONE);
    assign(owned(S0, 1, false));
    run(S0, new String[40]);
    Fetch fetch = take(Fetch.class);
    assertThat(fetch.request().messagesMax()).as("what there is room for").isEqualTo(60);
    List<FetchAnswer.Placed> batches = new ArrayList<>();
    for (long base = 40; base < 340; base += 30) {
      batches.add(new FetchAnswer.Placed(base, batch(new String[30])));
    }
    answer(fetch, new FetchAnswer(0, 340, 0, batches));
    assertThat(core.environment.flow.messages).as("whole batches within the limit").isEqualTo(100);
    assertThat(takeAll(Fetch.class)).isEmpty();

    assign(owned(S0, 1, false), owned(S1, 1, false));
    run(S1, new String[70]);
    assertThat(core.environment.flow.messages).as("a shard with nothing pending").isEqualTo(170);
    for (int i = 0; i < 121; i++) {
      core.finished(core.next(now), now);
    }
    assertThat(takeAll(Fetch.class))
        .as("what was not taken is fetched once there is room")
        .anyMatch(again -> again.request().shard().equals(S0) && again.request().offset() == 100);
  }

  @Test
  void afterAFetchWithoutAnAnswerTheNextWaitsForAMoment() {
    start(ConsumerOptions.Order.NONE);
    assign(owned(S0, 1, false));
    run(S0, "a");
    Fetch first = take(Fetch.class);
    assertThat(first.request().waitMillis()).isEqualTo(new ConsumerOptions().getFetchWaitMillis());
    refuse(first, refused(Refusal.INDETERMINATE));
    tick(5_000);
    Fetch again = take(Fetch.class);
    assertThat(again.request().waitMillis()).isEqualTo(1_000);
    answer(again, new FetchAnswer(0, 1, 0, List.of()));
    tick(100);
    assertThat(take(Fetch.class).request().waitMillis())
        .isEqualTo(new ConsumerOptions().getFetchWaitMillis());
  }

  @Test
  void retriesThatOthersAddedAreAskedForBeforeThoseThatWait() {
    start(ConsumerOptions.Order.NONE);
    assign(owned(S0, 1, false));
    run(S0, "a");
    core.finished(next(0), now);
    Fetch first = take(Fetch.class);
    assertThat(first.request().failuresKnown()).isZero();
    answer(first, new FetchAnswer(0, 1, 1, List.of()));
    FetchRetries ask = take(FetchRetries.class);
    RetryAnswer inAnHour = new RetryAnswer(3_600_000, List.of(), null, List.of());
    answer(ask, inAnHour);
    tick(2_000);

    Fetch next = take(Fetch.class);
    assertThat(next.request().failuresKnown()).isEqualTo(1);
    tick(next.request().waitMillis());
    answer(next, new FetchAnswer(0, 1, 1, List.of()));
    tick(2_000);
    assertThat(takeAll(FetchRetries.class)).as("no more than before").isEmpty();
    Fetch last = take(Fetch.class);
    answer(last, new FetchAnswer(0, 1, 2, List.of()));
    assertThat(takeAll(FetchRetries.class)).as("one was replayed").hasSize(1);
  }

  /** The log had so many failures at the last fetch, and then the only message fails no more. */
  private void afterFailures(int failures, long nextInMillis) {
    start(ConsumerOptions.Order.NONE);
    assign(owned(S0, 1, false));
    run(S0, "a");
    core.finished(next(0), now);
    Fetch first = take(Fetch.class);
    answer(first, new FetchAnswer(0, 1, failures, List.of()));
    FetchRetries ask = take(FetchRetries.class);
    RetryAnswer none = new RetryAnswer(nextInMillis, List.of(), null, List.of());
    answer(ask, none);
    tick(500);
    assertThat(takeAll(FetchRetries.class)).isEmpty();
  }

  /** The number falls with commits and with dead letters, which no fetch is answered for. */
  @Test
  void aReplayIsSeenThoughTheNumberOfFailuresFellBefore() {
    afterFailures(2, 3_600_000);
    Fetch waits = take(Fetch.class);
    tick(5_000);
    answer(waits, new FetchAnswer(0, 1, 2, List.of()));
    assertThat(takeAll(FetchRetries.class)).hasSize(1);
  }

  @Test
  void aReplayRightAfterARequestForRetriesIsSeenALittleLater() {
    afterFailures(1, -1);
    Fetch waits = take(Fetch.class);
    answer(waits, new FetchAnswer(0, 1, 1, List.of()));
    assertThat(takeAll(FetchRetries.class)).as("requests keep a distance").isEmpty();
    tick(500);
    assertThat(takeAll(FetchRetries.class)).hasSize(1);
  }

  /** The replay came between two fetches, and the number was what the second one said. */
  @Test
  void aReplayThatNoFetchToldOfIsSeenWhenAFetchEndsWithOthers() {
    afterFailures(1, -1);
    Fetch waits = take(Fetch.class);
    tick(waits.request().waitMillis());
    answer(waits, FetchAnswer.nothingFor(waits.request()));
    assertThat(takeAll(FetchRetries.class)).hasSize(1);
  }

  @Test
  void aStuckMessageStopsItsShardAtTheLargestSpan() {
    options.setPendingMessagesMax(1_000_000);
    start(ConsumerOptions.Order.NONE);
    assign(owned(S0, 1, false));
    run(S0, new String[60_000]);
    Fetch fetch = take(Fetch.class);
    answer(fetch, answer(60_000, batch(new String[20_000])));
    Task stuck = next(0);
    for (int i = 1; i < ShardMessages.SPAN_MESSAGES_MAX; i++) {
      core.finished(next(i), now);
    }
    assertThat(core.next(now)).isNull();
    core.finished(stuck, now);
    next(ShardMessages.SPAN_MESSAGES_MAX);
  }

  @Test
  void atMostParallelHandlersAndThirtyTwoOfAShard() {
    options.setParallel(40);
    start(ConsumerOptions.Order.NONE);
    assign(owned(S0, 1, false));
    run(S0, new String[100]);
    takeAll(Fetch.class);
    assign(owned(S0, 1, false), owned(S1, 1, false));
    run(S1, new String[100]);
    int[] count = new int[2];
    Task task;
    while ((task = core.next(now)) != null) {
      count[task.shard()]++;
    }
    assertThat(Arrays.stream(count).sum()).isEqualTo(40);
    assertThat(count[0]).isEqualTo(32);
    assertThat(count[1]).isEqualTo(8);
  }

  @Test
  void aFailedOnAssignIsTriedAgain() {
    start(ConsumerOptions.Order.SHARD);
    assign(owned(S0, 1, false));
    answer(take(ReadLease.class), lease(S0, 1, 0, -1, null));
    CallAssign call = take(CallAssign.class);
    refuse(call, new IllegalStateException("broken"));
    tick(999);
    assertThat(takeAll(CallAssign.class)).isEmpty();
    tick(1);
    answer(take(CallAssign.class), null);
    take(Fetch.class);
  }

  @Test
  void aShardWhoseOnAssignFailedIsReleasedAtOnce() {
    start(ConsumerOptions.Order.SHARD);
    assign(owned(S0, 1, false));
    answer(take(ReadLease.class), lease(S0, 1, 0, -1, null));
    refuse(take(CallAssign.class), new IllegalStateException("broken"));
    assign(owned(S0, 1, true));
    assertThat(takeAll(CallRelease.class)).isEmpty();
    take(Release.class);
  }

  /** Hands S0 back at its epoch, as the log takes it. */
  private void letGo(long epoch) {
    assign(owned(S0, epoch, false));
    run(S0);
    assign(owned(S0, epoch, true));
    answer(take(CallRelease.class), null);
    answer(take(Release.class), Reply.DONE);
    takeAll(ConsumerAction.class);
    assertThat(core.owned()).isZero();
  }

  /** The dispatcher answers a heartbeat a second with the same assignment. */
  private void insist(long millis, Assignment.Owned... owned) {
    ++revision;
    for (long end = now + millis; now < end; ) {
      tick(1_000);
      assign(1, revision, owned);
    }
  }

  @Test
  void whatWasLetGoIsNotTakenUpAgainByAnAssignmentThatIsOutOfDate() {
    start(ConsumerOptions.Order.SHARD);
    letGo(5);
    insist(OwnedShards.INSISTS_MILLIS, owned(S0, 5, false));
    assertThat(core.owned()).isZero();
    insist(1_000, owned(S0, 5, false));
    // Only the log can tell now, and it says that nobody owns the shard.
    Lease free = lease(S0, 5, 0, -1, null).released(0, -1, null);
    answer(take(ReadLease.class), free);
    assertThat(core.owned()).isZero();
    assertThat(takeAll(Release.class)).isEmpty();
    assertThat(takeAll(CallAssign.class)).isEmpty();
  }

  @Test
  void epochsThatBeganAnewAreReleasedAndThenHeld() {
    start(ConsumerOptions.Order.SHARD);
    letGo(5);
    insist(2 * OwnedShards.INSISTS_MILLIS, owned(S0, 1, false));
    answer(take(ReadLease.class), lease(S0, 1, 3, -1, null));
    // Nothing is handled at an epoch that may have been another's.
    assertThat(takeAll(CallAssign.class)).isEmpty();
    Release release = take(Release.class);
    assertThat(release.command().epoch()).isEqualTo(1);
    assertThat(release.command().offset()).isEqualTo(3);
    answer(release, Reply.DONE);
    assign(owned(S0, 2, false));
    answer(take(ReadLease.class), lease(S0, 2, 3, -1, null));
    take(CallAssign.class);
  }

  @Test
  void theVeryEpochThatWasLetGoMayComeAgain() {
    start(ConsumerOptions.Order.SHARD);
    letGo(1);
    insist(2 * OwnedShards.INSISTS_MILLIS, owned(S0, 1, false));
    answer(take(ReadLease.class), lease(S0, 1, 0, -1, null));
    answer(take(Release.class), Reply.DONE);
    assign(owned(S0, 2, false));
    take(ReadLease.class);
  }

  @Test
  void aDispatcherOfALowerTermCountsOnceNobodyElseIsHeard() {
    start(ConsumerOptions.Order.SHARD);
    assign(7, 3);
    tick(ConsumerCore.SILENT_MILLIS - 1_000);
    assign(1, 1, owned(S0, 1, false));
    assertThat(core.owned()).isZero();
    assign(7, 3);
    tick(ConsumerCore.SILENT_MILLIS);
    assign(1, 2, owned(S0, 1, false));
    assertThat(core.owned()).isOne();
  }

  @Test
  void anAssignmentOfManyShardsThatIsTakenUpNeedNotComeAgain() {
    begin(false, false);
    Assignment.Owned[] many =
        IntStream.range(0, ConsumerCore.SHARDS_MANY)
            .mapToObj(i -> owned(new Shard(1, i), 1, false))
            .toArray(Assignment.Owned[]::new);
    assertThat(core.seen()).isNull();
    assign(1, 7, Arrays.copyOf(many, many.length - 1));
    assertThat(core.seen()).as("few shards").isNull();
    assign(1, 8, many);
    assertThat(core.seen()).isEqualTo(new Heartbeat.Seen(1, 8));

    Assignment unchanged = new Assignment("g", "m", "i", 1, 8, List.of(many), null).asUnchanged();
    core.assigned(unchanged, now);
    assertThat(core.owned()).isEqualTo(many.length);
    Assignment later = new Assignment("g", "m", "i", 1, 9, List.of(many), null).asUnchanged();
    core.assigned(later, now);
    assertThat(core.seen()).as("of what was never seen").isEqualTo(new Heartbeat.Seen(1, 8));

    core.replaced("by another run", now);
    assertThat(core.seen()).as("shards are lost").isNull();
  }

  @Test
  void ofManyIdleShardsEachHeartbeatNamesSomeAndAllInTurns() {
    begin(false, false);
    int count = 2 * Heartbeat.MARKS_OF_TURN + 50;
    assign(
        IntStream.range(0, count)
            .mapToObj(i -> new Assignment.Owned("t", new Shard(1, i), 1, false, 0, 5))
            .toArray(Assignment.Owned[]::new));
    takeAll(CallAssign.class).forEach(each -> answer(each, null));
    assertThat(takeAll(Fetch.class)).hasSize(count);
    assertThat(core.progress(now)).as("of shards that were fetched lately").hasSize(count);
    now += ShardReports.RECENT_MILLIS + 1;
    Set<Shard> named = new HashSet<>();
    for (int turn = 0; turn < 3; turn++) {
      List<ShardProgress> marks = core.progress(now);
      assertThat(marks).hasSize(Heartbeat.MARKS_OF_TURN);
      marks.forEach(mark -> named.add(mark.shard()));
    }
    assertThat(named).hasSize(count);
  }

  @Test
  void idleShardsAreNamedHoweverManyWork() {
    begin(false, false);
    int working = Heartbeat.MARKS_MAX;
    int idle = 2 * Heartbeat.MARKS_OF_TURN;
    assign(
        IntStream.range(0, working + idle)
            .mapToObj(i -> new Assignment.Owned("t", new Shard(1, i), 1, false, 0, 0))
            .toArray(Assignment.Owned[]::new));
    takeAll(CallAssign.class).forEach(each -> answer(each, null));
    List<Fetch> fetches = takeAll(Fetch.class);
    assertThat(fetches).hasSize(working + idle);
    for (int i = 0; i < 4; i++) {
      core.progress(now);
    }
    now += ShardReports.RECENT_MILLIS + 1;
    for (int i = 0; i < 4; i++) {
      core.progress(now);
    }
    for (Fetch each : fetches) {
      if (each.request().shard().shard() < working) {
        answer(each, answer(0, batch("k")));
      }
    }
    Set<Shard> named = new HashSet<>();
    for (int turn = 0; turn < 2; turn++) {
      List<ShardProgress> marks = core.progress(now);
      assertThat(marks).hasSizeBetween(Heartbeat.MARKS_OF_TURN, Heartbeat.MARKS_MAX);
      marks.forEach(mark -> named.add(mark.shard()));
    }
    assertThat(named).hasSize(working + idle);
  }
}
