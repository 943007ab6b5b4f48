package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.Order;
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
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
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
    options.setHoldFailed(true).setOrder(Order.NONE);
    begin(false, false);
    assign(new Assignment.Owned("t", S0, 7, false, 0, 40));
    Lease reset = lease(S0, 5, 60, -1, null).reset(40).granted("m", "i", 0, 5_000);
    answer(take(ReadLease.class), reset);
    assertThat(take(CallAssign.class).shard()).isEqualTo(new ShardContext("t", 0, 7, "m", 40, 1));
  }

  private static FetchAnswer sealed(long end, int more, String... keys) {
    FetchAnswer.Placed batch = new FetchAnswer.Placed(0, batch(keys));
    List<FetchAnswer.Placed> batches = keys.length == 0 ? List.of() : List.of(batch);
    return new FetchAnswer(0, end, FetchAnswer.SEALED | more, batches);
  }

  @Test
  void aSealedShardIsReleasedWhenNothingIsLeftInIt() {
    Fetch fetch = startAt(0);
    answer(fetch, sealed(2, 0, "a", "b"));
    finish(0);
    Task last = next(1);
    fetch = take(Fetch.class);
    assertThat(fetch.request().failuresKnown()).isEqualTo(FetchAnswer.SEALED);
    answer(fetch, sealed(2, 0));
    finish(last);
    tick(1_000);
    takeAll(CommitPositions.class).forEach(each -> answer(each, Reply.DONE));
    assertThat(takeAll(CallRelease.class)).as("a message waits to be tried again").isEmpty();
    fetch = take(Fetch.class);
    answer(fetch, sealed(2, FetchAnswer.NONE_WAITS));
    DataCommand.Release release = released();
    assertThat(release.offset()).isEqualTo(2);
    assertThat(release.stateOffset()).isEqualTo(DataCommand.Release.FINISHED);
  }

  /** What the log said before it had the failure does not count, whenever the answer comes. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aSealedShardIsNotReleasedWhileItsLastMessageWaits(boolean late) {
    options.setOrder(Order.NONE);
    Fetch fetch = startAt(0);
    answer(fetch, sealed(1, FetchAnswer.NONE_WAITS, "a"));
    core.failed(next(0), new IllegalStateException("meant to fail"), now);
    RecordOutcomes record = take(RecordOutcomes.class);
    fetch = take(Fetch.class);
    if (!late) {
      answer(fetch, sealed(1, FetchAnswer.NONE_WAITS));
    }
    record(record);
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

  /** S0 comes out of those shards, and goes on with the last of them. */
  private void assignChild(long epoch, Integer... parents) {
    List<Integer> heir = List.of(parents[parents.length - 1]);
    Assignment.Origin origin = new Assignment.Origin(List.of(parents), heir, 6, 2);
    assign(new Assignment.Owned("t", S0, epoch, false, 0, -1, origin, null, null));
  }

  /** The lease of a parent that has left its number as its state. */
  private static Lease finished(int shard, long offset) {
    byte[] state = {(byte) shard};
    return Commands.lease("g", new Shard(1, shard), 2, null, null, offset, offset, state, null)
        .at(Lease.Stage.FINISHED);
  }

  /** How an owner releases a sealed shard whose parent has left a state. */
  private DataCommand.Release takeOver(int messages) {
    assignChild(epoch, 3);
    answer(take(ReadLease.class), lease(S0, epoch, 0, -1, null));
    epoch++;
    answer(take(ReadParents.class), finished(3, 9));
    answer(take(CallAssign.class), null);
    Fetch fetch = take(Fetch.class);
    if (messages > 0) {
      answer(fetch, sealed(1, FetchAnswer.NONE_WAITS, "a"));
      finish(0);
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
    assignChild(1, 3, 4);
    answer(take(ReadLease.class), lease(S0, 1, 0, -1, null));
    ReadParents read = take(ReadParents.class);
    assertThat(read.parents()).containsExactly(3, 4);
    Lease behind = Commands.lease("g", new Shard(1, 4), 2, "m", "i", 5, 0, new byte[0], null);
    answer(read, finished(3, 9));
    answer(read, behind);
    assertThat(takeAll(CallAssign.class)).as("a node was behind").isEmpty();
    tick(1_000);
    answer(take(ReadLease.class), lease(S0, 1, 0, -1, null));
    read = take(ReadParents.class);
    // Ordered by shard whoever answers first: the later one counts.
    answer(read, finished(4, 7));
    answer(read, finished(3, 9));
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
    assignChild(1, 3, 4);
    answer(take(ReadLease.class), lease(S0, 1, 0, -1, null));
    ReadParents read = take(ReadParents.class);
    refuse(read, new RefusedException(Refusal.UNAVAILABLE, "later"));
    answer(read, finished(4, 7));
    assertThat(takeAll(CallAssign.class)).as("nobody knows that it is gone").isEmpty();
    tick(1_000);
    answer(take(ReadLease.class), lease(S0, 1, 0, -1, null));
    read = take(ReadParents.class);
    refuse(read, new RefusedException(forgotten, "forgotten"));
    answer(read, finished(4, 7));
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
    assignChild(1, 3);
    byte[] state = stateOffset < 0 ? null : new byte[0];
    answer(take(ReadLease.class), lease(S0, 1, committed, stateOffset, state));
    takeAll(ReadParents.class).forEach(read -> answer(read, finished(3, 9)));
    CallAssign call = take(CallAssign.class);
    assertThat(call.parents()).hasSize(comes ? 1 : 0);
    assertThat(call.shard().offset()).isEqualTo(stateOffset < 0 ? committed : stateOffset);
  }

  /** It may die before it has stored a state: the next owner begins as it did. */
  @Test
  void aShardThatBeginsWithStatesOfFormerShardsHasNoStateOfItsOwn() {
    begin(true, true);
    assignChild(1, 3);
    answer(take(ReadLease.class), lease(S0, 1, 37, -1, null));
    answer(take(ReadParents.class), finished(3, 9));
    answer(take(CallAssign.class), null);
    Fetch fetch = take(Fetch.class);
    assertThat(fetch.request().offset()).isEqualTo(37);
    answer(fetch, new FetchAnswer(0, 50, 37, 45, List.of()));
    DataCommand.Commit commit = commitAfter(6_000);
    assertThat(commit.offset()).isEqualTo(45);
    assertThat(commit.stateOffset()).as("that of the beginning").isZero();
  }

  @Test
  void whatAFilterLeavesOutCountsAsConsumed() {
    options.setFilter(MessageFilter.of("key=a"));
    Fetch fetch = startAt(0);
    assertThat(fetch.request().filter()).isEqualTo(MessageFilter.of("key=a"));
    FetchAnswer answer =
        new FetchAnswer(0, 20, 0, 9, List.of(new FetchAnswer.Placed(3, batch("a", "b", "a"))));
    answer(fetch, answer);
    Task first = next(3);
    fetch = take(Fetch.class);
    assertThat(fetch.request().offset()).isEqualTo(9);
    finish(first);
    finish(5);
    assertThat(core.next(now)).isNull();
    assertThat(core.consumed()).isEqualTo(2);
    assertThat(core.filtered()).isEqualTo(3 + 1 + 3);
    assertThat(committedAfter(1_000).offset()).isEqualTo(9);

    answer(fetch, new FetchAnswer(0, 20, 0, 20, List.of()));
    assertThat(core.filtered()).isEqualTo(18);
    assertThat(commitAfter(1_000).offset()).as("without any message").isEqualTo(20);
  }

  /** One behind the other from that offset on, to the end of the shard. */
  private static FetchAnswer batches(long from, Batch... batches) {
    List<FetchAnswer.Placed> placed = new ArrayList<>();
    long end = from;
    for (Batch each : batches) {
      placed.add(new FetchAnswer.Placed(end, each));
      end += each.count();
    }
    return new FetchAnswer(0, end, 0, placed);
  }

  /** With a right checksum, {@code count} in its header and three messages. */
  private static Batch malformed(int count) {
    Batch batch = batch("a", "b", "c");
    batch.bytes().putInt(32, count);
    return batch.stamped(1, 0, 0);
  }

  @Test
  void whatIsMalformedInABatchGoesToTheDeadLettersAndTheGroupGoesOn() {
    answer(startAt(0), batches(0, malformed(7), batch("d")));
    finish(0, 1, 2);
    List<Outcome.Failed> dead = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      assertThat(core.next(now)).as("the shard keeps its order").isNull();
      recorded().forEach(outcome -> dead.add((Outcome.Failed) outcome));
    }
    finish(7);
    assertThat(dead).extracting(Outcome.Failed::offset).containsExactly(3L, 4L, 5L, 6L);
    assertThat(dead).allMatch(each -> each.way() == Outcome.Way.DEAD && each.attempt() == 1);
    assertThat(dead).allMatch(each -> each.error().startsWith("CORRUPT: the message cannot be"));
    assertThat(dead).as("the log has the messages").allMatch(each -> each.copy() == null);
    assertThat(reports())
        .containsExactly("t/0@5: offsets 3 to 6 cannot be read, they go to the dead letters");
    assertThat(commitAfter(5_000).offset()).isEqualTo(8);
  }

  @Test
  void whatCannotBeUnpackedGoesToTheDeadLettersAndTheErrorSaysWhereItIs() {
    options.setOrder(Order.NONE);
    answer(startAt(0), answer(30, notToUnpack()));
    assertThat(core.next(now)).isNull();
    Outcome first = takeAll(RecordOutcomes.class).get(0).command().outcomes().get(0);
    assertThat(((Outcome.Failed) first).error())
        .startsWith(
            "CORRUPT: the message cannot be read (t/0 offset 30 in the batch of offsets 30 to 79:"
                + " malformed batch: it ");
  }

  @Test
  void aCompressedBatchCountsAsWhatItIsUnpacked() {
    options.setPendingBytesMax(4_000);
    Batch batch = compressed(50);
    assertThat(batch.length()).isLessThan(400);
    answer(startAt(0), batches(0, batch, batch));
    for (int offset = 0; offset < 50; offset++) {
      finish(offset);
    }
    assertThat(core.next(now)).as("there was no room for the second batch").isNull();
    assertThat(take(Fetch.class).request().offset()).isEqualTo(50);
  }

  /** Its first length is wrong, and its checksum is right. */
  private static Batch notToUnpack() {
    Batch batch = compressed(50);
    batch.bytes().putInt(Batch.HEADER_BYTES, 1_000);
    return batch.stamped(1, 0, 0);
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
    answer(startAt(0), answer(0, malformed(4)));
    finish(0, 1, 2);
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
    leased(5, 0);
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
    finish(0);
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
    FetchRetries asked = asksForRetries();
    RetryAnswer.Retry broken = new RetryAnswer.Retry(3, 1, Outcome.NO_KEY, new byte[] {9, 9});
    answer(asked, due(List.of(broken, new RetryAnswer.Retry(4, 1, Outcome.NO_KEY, SOUND))));
    next(4);
    becomesADeadLetter(3);
  }

  private static final byte[] SOUND =
      MessageCodec.encode(new Message(null, Map.of(), 0, new byte[1]));

  private static RetryAnswer due(List<RetryAnswer.Retry> due, PlacedBatch... batches) {
    return new RetryAnswer(-1, due, RetryAnswer.Known.NOTHING, List.of(batches));
  }

  private void becomesADeadLetter(long offset) {
    Outcome.Failed dead = (Outcome.Failed) onlyOutcome();
    assertThat(dead.offset()).isEqualTo(offset);
    assertThat(dead.way()).isEqualTo(Outcome.Way.DEAD);
  }

  private Outcome onlyOutcome() {
    List<Outcome> outcomes = take(RecordOutcomes.class).command().outcomes();
    assertThat(outcomes).hasSize(1);
    return outcomes.get(0);
  }

  /** A consumer that has asked for the retries of a shard. */
  private FetchRetries asksForRetries() {
    options.setOrder(Order.NONE);
    answer(startAt(90), new FetchAnswer(0, 90, 2, List.of()));
    tick(0);
    return take(FetchRetries.class);
  }

  private static RetryAnswer retries(Batch batch, long... offsets) {
    List<RetryAnswer.Retry> due =
        LongStream.of(offsets)
            .mapToObj(offset -> new RetryAnswer.Retry(offset, 1, Outcome.NO_KEY, null))
            .toList();
    return due(due, new PlacedBatch(30, batch.bytes().array()));
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
    List<RetryAnswer.Retry> putBack =
        LongStream.range(0, 2 * Breaker.LOOKED_AT)
            .mapToObj(offset -> new RetryAnswer.Retry(offset, 0, Outcome.NO_KEY, SOUND))
            .toList();
    answer(asked, due(putBack));
    for (Task task = core.next(now); task != null; task = core.next(now)) {
      core.failed(task, new IllegalStateException("no"), now);
    }
    assertThat(core.breakerOpen()).isFalse();
    assertThat(takeAll(RecordOutcomes.class))
        .as("each counts as an attempt")
        .anyMatch(record -> !record.command().outcomes().isEmpty());
  }

  @Test
  void aRetryThatCannotBeUnpackedBecomesADeadLetter() {
    FetchRetries asked = asksForRetries();
    answer(asked, retries(notToUnpack(), 33));
    assertThat(core.next(now)).isNull();
    becomesADeadLetter(33);
  }

  @Test
  void aHandOverCarriesStateAndPositionTogether() {
    start(Order.SHARD);
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
    finish(40);
    Task running = next(41);
    assign(owned(S0, 5, true));
    assertThat(core.next(now)).isNull();
    assertThat(takeAll(CallRelease.class)).isEmpty();
    finish(running);
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
    start(Order.SHARD);
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
    OwnedShard owned = works(Order.SHARD, "a");
    assign(owned(S0, 1, true));
    take(CallRelease.class);
    owned.release.stateGiven(new byte[Limits.STATE_BYTES_MAX + 1], null, now);
    assertThat(take(Release.class).command().state()).isEmpty();
    assertThat(take(Report.class).text()).contains("1048577 bytes, at most 1048576");
  }

  @Test
  void aShardThatDrainsBeforeItRanIsGivenOnUntouched() {
    start(Order.SHARD);
    assign(owned(S0, 5, true));
    answer(take(ReadLease.class), lease(S0, 5, 50, 40, new byte[] {1}));
    var command = take(Release.class).command();
    assertThat(command.offset()).isEqualTo(50);
    assertThat(command.state()).isNull();
    none(CallAssign.class, CallRelease.class);
  }

  @Test
  void aLostShardIsNotCommitted() {
    works(Order.NONE, "a", "b", "c");
    Task running = next(0);
    assign();
    assertThat(take(CallLost.class).shard().epoch()).isEqualTo(1);
    assertThat(core.next(now)).isNull();
    finish(running);
    tick(10_000);
    none(CommitPositions.class, Release.class);
    nothingIsPending();
  }

  @Test
  void aNewHoldAwaitsTheHandlersOfTheFormer() {
    works(Order.SHARD, "a", "b");
    Task running = next(0);
    assign(owned(S0, 2, false));
    tick(50);
    assertThat(takeAll(ReadLease.class)).isEmpty();
    finish(running);
    tick(50);
    take(ReadLease.class);
  }

  @Test
  void aNewHoldOfTheSameEpochAwaitsTheCommitOfTheFormer() {
    OwnedShard former = committing();
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
    start(Order.NONE);
    OwnedShard former = hold(5, "a", "b");
    broken(next(0));
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
  private OwnedShard committing() {
    start(Order.NONE);
    OwnedShard owned = hold(5, "a", "b");
    finish(0);
    commitAfter(6_000);
    return owned;
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
    answer(take(ReadLease.class), lease(S0, 5, 0, -1, null));
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
    start(Order.NONE);
    hold(5, "a", "b");
    finish(0);
    assign();
    takeAll(Fetch.class);
    tick(100);
    leased(5, 0);
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
    committedAfter(6_000);
    assign();
    takeAll(Fetch.class);
    hold(5, "b");
  }

  @Test
  void aNewHoldOfAnEpochWhoseReleaseMayStillBeTakenIsReleasedAgain() {
    start(Order.NONE);
    hold(5, "a");
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
    works(Order.SHARD, "a", "b");
    finish(0);
    assertThat(commitAfter(50).offset()).isEqualTo(1);
    refuse(sent, refused(Refusal.FENCED));
    take(CallLost.class);
    assertThat(core.owned()).isZero();
    assign(1, revision, owned(S0, 1, false));
    answer(take(ReadLease.class), lease(S0, 2, 1, -1, null));
    assertThat(core.owned()).isZero();
    assertThat(takeAll(CallLost.class)).isEmpty();
  }

  @Test
  void aCommitIsRepeatedWhileTheShardIsOwned() {
    works(Order.SHARD, "a", "b");
    finish(0);
    commitAfter(5_000);
    refuse(sent, refused(Refusal.INDETERMINATE));
    finish(1);
    assertThat(committedAfter(5_000).offset()).isEqualTo(2);
    tick(5_000);
    assertThat(takeAll(CommitPositions.class)).isEmpty();
  }

  @Test
  void halfOfAThousandMessagesAreCommittedAtOnce() {
    start(Order.NONE);
    assign(owned(S0, 1, false));
    String[] keys = new String[1_500];
    run(S0, keys);
    now += 1_000;
    for (int i = 0; i < 500; i++) {
      assertThat(takeAll(CommitPositions.class)).isEmpty();
      finish(i);
    }
    assertThat(commit().offset()).isEqualTo(500);
  }

  @Test
  void aFailedMessageIsTriedAgainInPlaceAndHoldsUpItsShard() {
    works(Order.SHARD, "a", "b");
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
    finish(task);
    next(1);
  }

  @Test
  void aFailedMessageHoldsUpOnlyItsKey() {
    works(Order.KEY, "a", "b", "a", "b", null);
    fail(next(0));
    Task b = next(1);
    Task none = next(4);
    assertThat(core.next(now)).isNull();
    finish(b, none);
    finish(3);
    assertThat(core.next(now)).isNull();
    tick(1_200);
    finish(0, 2);
    assertThat(core.environment.flow.messages).isZero();
  }

  @Test
  void whoClosesWaitsForHandlersOfLostShards() {
    OwnedShard owned = works(Order.NONE, "a");
    Task running = next(0);
    owned.lose("its topic was deleted", now);
    core.close(now, Long.MAX_VALUE);
    assertThat(core.drained()).isFalse();
    finish(running);
    assertThat(core.drained()).isTrue();
  }

  @Test
  void aFailedMessageBelowAFinishedOneIsFinishedBeforeARelease() {
    OwnedShard owned = works(Order.NONE, "a", "b", "c", "d");
    finish(0);
    fail(next(1));
    finish(2);
    fail(next(3));
    core.close(now, Long.MAX_VALUE);
    take(CallDraining.class);
    Task again = next(1);
    assertThat(core.next(now)).as("nothing above it is finished").isNull();
    fail(again);
    tick(999);
    assertThat(core.next(now)).isNull();
    tick(1);
    finish(1);
    assertThat(released().offset()).isEqualTo(3);
    assertThat(core.drained()).isFalse();
    owned.release.released(now);
    assertThat(core.drained()).isTrue();
    nothingIsPending();
  }

  @Test
  void whatIsParkedBelowAFinishedMessageIsFinishedBeforeARelease() {
    works(Order.KEY, "a", "a", "b", "a", "a", "b");
    Task zero = next(0);
    Task two = next(2);
    finish(two);
    Task five = next(5);
    assign(owned(S0, 1, true));
    fail(five);
    finish(zero);
    finish(1);
    assertThat(released().offset()).isEqualTo(3);
    assertThat(core.next(now)).isNull();
    assertThat(core.environment.flow.messages).isZero();
  }

  @Test
  void nothingOfALaneIsParkedAheadOfAMessageThatFoundNoRoom() {
    worksWithoutState(Order.KEY, Collections.nCopies(600, "a").toArray(String[]::new));
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
    works(Order.NONE, "a", "b", "c");
    fail(next(0));
    finish(1);
    assign(owned(S0, 1, true));
    for (int second = 0; second < 8; second++) {
      fail(next(0));
      assertThat(takeAll(CallRelease.class)).isEmpty();
      tick(1_000);
    }
    // What is left of the time is onRelease's and the log's. Its state has offset 1 in it.
    var command = released(new byte[] {1});
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
    OwnedShard owned = works(Order.NONE, "a", "b");
    Task zero = next(0);
    finish(1);
    assign(owned(S0, 1, true));
    fail(zero);
    tick(100);
    Task again = next(0);
    assertThat(again.attempt).isEqualTo(2);
    broken(again);
    Outcome.Failed last = (Outcome.Failed) recorded().get(0);
    assertThat(last.way()).isEqualTo(Outcome.Way.DEAD);
    tick(1);
    assertThat(released().offset()).isEqualTo(2);
  }

  /** As in mode level, where messages end in any order, and what is in hand is given back. */
  @Test
  void aMessageThatIsGivenBackInAHandoverIsNoTroubleForWhoKeepsNoState() {
    OwnedShard owned = worksWithoutState(Order.NONE, "a", "b", "c");
    Task zero = next(0);
    finish(1);
    assign(owned(S0, 1, true));
    core.failed(zero, new GivenBackException("not wanted"), now);
    assertThat(released().offset()).isZero();
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
    works(Order.KEY, new String[1_000]);
    next(0);
    takeAll(Fetch.class);
    OwnedShard other = holdS1(new String[1_000]);
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
    works(Order.NONE, "a", "b");
    Task zero = next(0);
    assign(owned(S0, 1, true));
    assertThat(take(CallDraining.class).shard().epoch()).isEqualTo(1);
    assertThat(takeAll(CallKept.class)).isEmpty();
    assign(owned(S0, 1, false));
    assertThat(take(CallKept.class).shard().epoch()).isEqualTo(1);
    finish(zero);
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
    works(Order.SHARD, "a", "b");
    fail(next(0));
    takeAll(Fetch.class);
    pause(ALL);
    pause();
    tick(ConsumerCore.TICK_MILLIS);
    fetches(0, "a", "b");
    assertThat(core.next(now)).as("it waits for its next attempt").isNull();
    tick(1_300);
    assertThat(next(0).attempt()).isEqualTo(2);
  }

  /** What handlers need is under repair: not even what is here already begins. */
  @Test
  void whileTheGroupIsPausedNothingBeginsAndNothingIsLost() {
    options.setParallel(2);
    worksWithoutState(Order.NONE, new String[3_000]);
    Task zero = next(0);
    Task one = next(1);
    takeAll(Fetch.class);
    pause(ALL);
    finish(zero);
    fail(one);
    assertThat(core.next(now)).isNull();
    assertThat(core.environment.flow.messages).as("nothing is kept").isZero();
    assertThat(committedAfter(5_000).offset()).as("progress is committed").isEqualTo(2);
    tick(60_000);
    assertThat(core.next(now)).isNull();
    assertThat(takeAll(Fetch.class)).isEmpty();
    assertThat(takeAll(FetchRetries.class)).as("a retry is due").isEmpty();
    assertThat(takeAll(RecordOutcomes.class)).as("nothing counts as an attempt").isEmpty();
    assertThat(core.progress(now).get(0).stalledMillis()).as("nobody is stuck").isNull();

    pause();
    tick(ConsumerCore.TICK_MILLIS);
    assertThat(takeAll(FetchRetries.class)).hasSize(1);
    fetches(2, new String[5]);
    next(2);
  }

  @Test
  void whatIsPausedOfAGroupDoesNotStopTheRest() {
    works(Order.SHARD, new String[10]);
    takeAll(Fetch.class);
    holdS1(new String[10]);
    pause(new Assignment.Paused(S0.topicId(), S0.shard()));
    Task task = core.next(now);
    assertThat(task.owner.ownership().shard()).isEqualTo(S1);
    assertThat(core.next(now)).isNull();
    pause(new Assignment.Paused(S0.topicId(), Pause.ALL_SHARDS));
    finish(task);
    assertThat(core.next(now)).isNull();
  }

  /** Level dispatchers have many messages that wait for members. Other shards need the room. */
  @Test
  void whatAHandlerGivesBackInAPauseIsFetchedAgainAfterIt() {
    options.setParallel(4);
    worksWithoutState(Order.NONE, "a", "b", "c", "d");
    Task zero = next(0);
    List<Task> others = List.of(next(1), next(2), next(3));
    takeAll(Fetch.class);
    pause(new Assignment.Paused(S0.topicId(), S0.shard()));
    others.forEach(task -> core.failed(task, new GivenBackException("it is paused"), now));
    tick(ConsumerCore.TICK_MILLIS);
    assertThat(core.environment.flow.messages).as("only what runs is kept").isEqualTo(1);
    finish(zero);
    tick(5_000);
    assertThat(core.next(now)).isNull();
    pause();
    tick(ConsumerCore.TICK_MILLIS);
    fetches(1, "b", "c", "d");
    assertThat(next(1).attempt()).isEqualTo(1);
    next(2);
    next(3);
  }

  /** The pause may have ended or begun while the shard was draining. */
  @Test
  void whoKeepsAShardHearsWhetherItIsPausedNow() {
    works(Order.SHARD, "a");
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
    options.setParallel(3);
    worksWithoutState(Order.KEY, "a", "b", "c", "a");
    Task zero = next(0);
    finish(1);
    Task two = next(2);
    pause(ALL);
    core.failed(zero, new GivenBackException("not now"), now);
    assign(owned(S0, 1, true));
    assertThat(takeAll(CallRelease.class)).as("one runs").isEmpty();
    finish(two);
    assertThat(released().offset()).isZero();
    assertThat(takeAll(RecordOutcomes.class)).isEmpty();
  }

  /** Answers and pushes come on different ways: the older one may come last. */
  @Test
  void anOlderAssignmentEndsNoPause() {
    options.setOrder(Order.NONE);
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
    options.setOrder(Order.NONE);
    begin(false, false);
    pause(ALL);
    leased(1, 3);
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
    worksWithoutState(Order.KEY, "a", "b", "c", "a", "d");
    Task zero = next(0);
    Task one = next(1);
    Task two = next(2);
    takeAll(Report.class);
    core.failed(zero, new CompletionException(new MemberFaultException("the disk is full")), now);
    assertThat(core.next(now)).as("nothing begins any more").isNull();
    finish(one);
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
    start(Order.SHARD);
    leased(1, 3);
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
    works(Order.SHARD, "a", "b");
    for (int i = 0; i < 5; i++) {
      Task zero = next(0);
      assertThat(zero.attempt()).isEqualTo(1);
      core.failed(zero, refused(Refusal.OVERLOADED), now);
      assertThat(core.next(now)).isNull();
      tick(1_000);
    }
    finish(0);
    core.failed(next(1), refused(Refusal.TOO_LARGE), now);
    assertThat(take(RecordOutcomes.class).command().outcomes())
        .as("another refusal is the message's own")
        .hasSize(1);
  }

  /** Unpacked messages take several times the memory of their bytes. */
  @Test
  void noMoreMessagesAreUnpackedThanTheLimit() {
    options.setPendingMessagesMax(100).setParallel(8);
    start(Order.KEY);
    assign(owned(S0, 1, false), owned(S1, 1, false));
    Batch batch = batch(Collections.nCopies(5_000, "a").toArray(String[]::new));
    for (ReadLease read : takeAll(ReadLease.class)) {
      answer(read, lease(read.owned().shard(), 1, 0, -1, null));
    }
    takeAll(CallAssign.class).forEach(call -> answer(call, null));
    List<Fetch> fetches = takeAll(Fetch.class);
    fetches.forEach(fetch -> answer(fetch, answer(0, batch)));
    List<Task> running = new ArrayList<>(List.of(core.next(now), core.next(now)));
    int handled = 0;
    while (!running.isEmpty()) {
      assertThat(core.next(now)).as("one key in each shard").isNull();
      assertThat(fetches.stream().mapToLong(fetch -> window(fetch).span()).sum())
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
    works(Order.NONE, "a", "b", "c");
    Task zero = next(0);
    finish(1);
    assign(owned(S0, 1, true));
    core.failed(zero, new GivenBackException("not wanted"), now);
    assertThat(core.next(now)).isNull();
    assertThat(released().offset()).isZero();
  }

  @Test
  void theFirstOwnerThatKeepsStateTellsWhereTheEmptyStateStands() {
    start(Order.SHARD);
    leased(1, 7);
    CallAssign call = take(CallAssign.class);
    assertThat(call.state()).isNull();
    answer(call, null);
    Fetch fetch = take(Fetch.class);
    answer(fetch, answer(7, batch("a", "b")));
    finish(7);
    var commit = commitAfter(5_000);
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
    finish(7);
    assign(owned(S0, 2, true));
    refuse(take(CallRelease.class), new IllegalStateException());
    var release = take(Release.class).command();
    assertThat(release.offset()).isEqualTo(8);
    assertThat(release.stateOffset()).isEqualTo(7);
    assertThat(release.state()).isEmpty();
  }

  @Test
  void aHandlerWithoutStateOfItsOwnSaysNothingOfState() {
    options.setOrder(Order.SHARD);
    begin(true, false);
    hold(1, "a");
    finish(0);
    assertThat(commitAfter(5_000).stateOffset()).isEqualTo(-1);
    assign(owned(S0, 1, true));
    var release = released();
    assertThat(release.stateOffset()).isEqualTo(-1);
    assertThat(release.state()).isNull();
  }

  @Test
  void closingIsToldAtOnceUnlessThereIsNothingToLetGo() {
    start(Order.SHARD);
    core.close(now, Long.MAX_VALUE);
    assertThat(takeAll(HeartbeatNow.class)).isEmpty();
    assertThat(core.drained()).isTrue();

    works(Order.SHARD, "a");
    Task task = next(0);
    core.close(now, Long.MAX_VALUE);
    take(HeartbeatNow.class);
    assertThat(core.drained()).isFalse();
    finish(task);
    answer(take(CallRelease.class), null);
    answer(take(Release.class), Reply.DONE);
    assertThat(core.drained()).isTrue();
  }

  @Test
  void aDrainThatIsCalledOffGoesOnWithoutRepeatingWhatIsFinished() {
    works(Order.NONE, "a", "b", "c", "d");
    Task zero = next(0);
    finish(1);
    assign(owned(S0, 1, true));
    assign(owned(S0, 1, false));
    Fetch fetch = takeAll(Fetch.class).get(1);
    assertThat(fetch.request().offset()).as("after what was begun").isEqualTo(2);
    answer(fetch, answer(0, batch("a", "b", "c", "d")));
    fail(zero);
    finish(2, 3);
    assertThat(core.next(now)).isNull();
    tick(1_200);
    finish(0);
    assertThat(core.environment.flow.messages).isZero();
    assertThat(window(fetch).committed()).isEqualTo(4);
  }

  private static Window window(Fetch fetch) {
    return ((OwnedShard) fetch.owned()).window();
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
    works(Order.KEY, "a", "a", "a", "a");
    Task zero = next(0);
    assertThat(core.next(now)).as("the others wait for the first").isNull();
    pause(ALL);
    finish(zero);
    pause();
    List<Fetch> fetches = takeAll(Fetch.class);
    Fetch fetch = fetches.get(fetches.size() - 1);
    assertThat(fetch.request().offset()).isEqualTo(1);
    refuse(fetch, new RefusedException.OutOfRange(3, 4));
    Fetch again = take(Fetch.class);
    answer(again, answer(3, batch("a")));
    finish(3);
    assertThat(window(again).committed()).isEqualTo(4);
  }

  @Test
  void whatIsLostAtTheEndOfAShardCountsAsConsumedWithWhatIsBeforeIt() {
    works(Order.SHARD, "a", "b", "c");
    Task zero = next(0);
    OwnedShard owned = nothingUpTo(5);
    assertThat(take(Fetch.class).request().offset()).isEqualTo(5);
    finish(zero);
    finish(1);
    assertThat(owned.window().committed()).isEqualTo(2);
    finish(2);
    assertThat(core.next(now)).isNull();
    assertThat(owned.window().committed()).isEqualTo(5);
    assertThat(commitAfter(5_000).offset()).isEqualTo(5);
    assertThat(owned.reports.lag()).isZero();
  }

  @Test
  void whatIsLostBehindMessagesThatRunCountsWhenTheyHaveEnded() {
    works(Order.NONE, "a", "b");
    Task zero = next(0);
    Task one = next(1);
    OwnedShard owned = nothingUpTo(5);
    finish(one);
    assertThat(owned.window().committed()).isZero();
    finish(zero);
    assertThat(owned.window().committed()).isEqualTo(5);
  }

  @Test
  void whatIsDroppedBeforeALostEndIsNotSkippedWithIt() {
    works(Order.SHARD, "a", "b", "c");
    Task zero = next(0);
    nothingUpTo(5);
    take(Fetch.class);
    assign(owned(S0, 1, true));
    assign(owned(S0, 1, false));
    Fetch fetch = take(Fetch.class);
    assertThat(fetch.request().offset()).isEqualTo(1);
    answer(fetch, answer(0, batch("a", "b")));
    finish(zero);
    finish(1);
    assertThat(core.next(now)).isNull();
    assertThat(window(fetch).committed()).isEqualTo(2);
    fetch = take(Fetch.class);
    assertThat(fetch.request().offset()).isEqualTo(2);
    answer(fetch, answer(2, batch("c")));
    OwnedShard owned = nothingUpTo(5);
    finish(2);
    assertThat(owned.window().committed()).isEqualTo(5);
  }

  @Test
  void olderAssignmentsAreIgnored() {
    start(Order.SHARD);
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
    OwnedShard owned = works(Order.SHARD, "a");
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
    works(Order.NONE, "a", "b", "c");
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
    works(Order.SHARD, new String[20]);
    fail(next(0));
    assertThat(core.environment.flow.paused).isTrue();
    assertThat(takeAll(Fetch.class)).isEmpty();
    holdS1("a", "b");
    Task task = next(0);
    assertThat(task.owner.ownership().shard()).isEqualTo(S1);
    finish(task);
    finish(1);
    assertThat(take(Fetch.class).request().shard()).isEqualTo(S1);
  }

  @Test
  void aShardFetchesAgainWhenHalfOfItsLastAnswerIsLeft() {
    options.setPendingMessagesMax(10);
    OwnedShard shard = works(Order.SHARD, new String[20]);
    for (int round = 0; round < 3; round++) {
      long from = 20 * round;
      for (long offset = from; offset < from + (round == 0 ? 10 : 20); offset++) {
        assertThat(takeAll(Fetch.class)).as("before offset " + offset).isEmpty();
        finish(round == 0 ? offset : offset - 10);
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
    works(Order.NONE, new String[40]);
    Fetch fetch = take(Fetch.class);
    assertThat(fetch.request().messagesMax()).as("what there is room for").isEqualTo(60);
    Batch[] ten = Collections.nCopies(10, batch(new String[30])).toArray(Batch[]::new);
    answer(fetch, batches(40, ten));
    assertThat(core.environment.flow.messages).as("whole batches within the limit").isEqualTo(100);
    assertThat(takeAll(Fetch.class)).isEmpty();

    holdS1(new String[70]);
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
    works(Order.NONE, "a");
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
    works(Order.NONE, "a");
    finish(0);
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
    answer(take(Fetch.class), new FetchAnswer(0, 1, 2, List.of()));
    assertThat(takeAll(FetchRetries.class)).as("one was replayed").hasSize(1);
  }

  /** The log had so many failures at the last fetch, and then the only message fails no more. */
  private void afterFailures(int failures, long nextInMillis) {
    works(Order.NONE, "a");
    finish(0);
    answer(take(Fetch.class), new FetchAnswer(0, 1, failures, List.of()));
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
    answer(take(Fetch.class), new FetchAnswer(0, 1, 1, List.of()));
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
    works(Order.NONE, new String[60_000]);
    answer(take(Fetch.class), answer(60_000, batch(new String[20_000])));
    Task stuck = next(0);
    for (int i = 1; i < ShardMessages.SPAN_MESSAGES_MAX; i++) {
      finish(i);
    }
    assertThat(core.next(now)).isNull();
    finish(stuck);
    next(ShardMessages.SPAN_MESSAGES_MAX);
  }

  @Test
  void atMostParallelHandlersAndThirtyTwoOfAShard() {
    options.setParallel(40);
    works(Order.NONE, new String[100]);
    takeAll(Fetch.class);
    holdS1(new String[100]);
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
    start(Order.SHARD);
    leased(1, 0);
    refuse(take(CallAssign.class), new IllegalStateException("broken"));
    tick(999);
    assertThat(takeAll(CallAssign.class)).isEmpty();
    tick(1);
    answer(take(CallAssign.class), null);
    take(Fetch.class);
  }

  @Test
  void aShardWhoseOnAssignFailedIsReleasedAtOnce() {
    start(Order.SHARD);
    leased(1, 0);
    refuse(take(CallAssign.class), new IllegalStateException("broken"));
    assign(owned(S0, 1, true));
    assertThat(takeAll(CallRelease.class)).isEmpty();
    take(Release.class);
  }

  /** S1 comes beside S0. */
  private OwnedShard holdS1(String... keys) {
    assign(owned(S0, 1, false), owned(S1, 1, false));
    return run(S1, keys);
  }

  /** Hands S0 back at its epoch, as the log takes it. */
  private void letGo(long epoch) {
    hold(epoch);
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
    start(Order.SHARD);
    letGo(5);
    insist(OwnedShards.INSISTS_MILLIS, owned(S0, 5, false));
    assertThat(core.owned()).isZero();
    insist(1_000, owned(S0, 5, false));
    // Only the log can tell now, and it says that nobody owns the shard.
    Lease free = lease(S0, 5, 0, -1, null).released(0, -1, null);
    answer(take(ReadLease.class), free);
    assertThat(core.owned()).isZero();
    none(Release.class, CallAssign.class);
  }

  @Test
  void epochsThatBeganAnewAreReleasedAndThenHeld() {
    start(Order.SHARD);
    letGo(5);
    insist(2 * OwnedShards.INSISTS_MILLIS, owned(S0, 1, false));
    answer(take(ReadLease.class), lease(S0, 1, 3, -1, null));
    // Nothing is handled at an epoch that may have been another's.
    assertThat(takeAll(CallAssign.class)).isEmpty();
    Release release = take(Release.class);
    assertThat(release.command().epoch()).isEqualTo(1);
    assertThat(release.command().offset()).isEqualTo(3);
    answer(release, Reply.DONE);
    leased(2, 3);
    take(CallAssign.class);
  }

  @Test
  void theVeryEpochThatWasLetGoMayComeAgain() {
    start(Order.SHARD);
    letGo(1);
    insist(2 * OwnedShards.INSISTS_MILLIS, owned(S0, 1, false));
    answer(take(ReadLease.class), lease(S0, 1, 0, -1, null));
    answer(take(Release.class), Reply.DONE);
    assign(owned(S0, 2, false));
    take(ReadLease.class);
  }

  @Test
  void aDispatcherOfALowerTermCountsOnceNobodyElseIsHeard() {
    start(Order.SHARD);
    assign(7, 3);
    tick(LastAssignment.SILENT_MILLIS - 1_000);
    assign(1, 1, owned(S0, 1, false));
    assertThat(core.owned()).isZero();
    assign(7, 3);
    tick(LastAssignment.SILENT_MILLIS);
    assign(1, 2, owned(S0, 1, false));
    assertThat(core.owned()).isOne();
  }

  @Test
  void anAssignmentOfManyShardsThatIsTakenUpNeedNotComeAgain() {
    begin(false, false);
    Assignment.Owned[] many = shards(ConsumerCore.SHARDS_MANY, -1);
    assertThat(core.seen()).isNull();
    assign(1, 7, Arrays.copyOf(many, many.length - 1));
    assertThat(core.seen()).as("few shards").isNull();
    assign(1, 8, many);
    assertThat(core.seen()).isEqualTo(new Heartbeat.Seen(1, 8));

    Assignment same = new Assignment("g", "m", "i", 1, 8, List.of(many), null).asUnchanged();
    core.assigned(same, now);
    assertThat(core.owned()).isEqualTo(many.length);
    core.assigned(same.at(9), now);
    assertThat(core.seen()).as("of what was never seen").isEqualTo(new Heartbeat.Seen(1, 8));

    core.replaced("by another run", now);
    assertThat(core.seen()).as("shards are lost").isNull();
  }

  /** The shards that heartbeats have named. */
  private final Set<Shard> named = new HashSet<>();

  private List<List<ShardProgress>> heartbeats(int count) {
    List<List<ShardProgress>> all = Stream.generate(() -> core.progress(now)).limit(count).toList();
    all.forEach(marks -> marks.forEach(mark -> named.add(mark.shard())));
    return all;
  }

  private static Assignment.Owned[] shards(int count, long committed) {
    return IntStream.range(0, count)
        .mapToObj(i -> new Assignment.Owned("t", new Shard(1, i), 1, false, 0, committed))
        .toArray(Assignment.Owned[]::new);
  }

  /** A member without state owns so many shards, and asks for the messages of each. */
  private List<Fetch> fetchesOf(int count) {
    begin(false, false);
    assign(shards(count, 0));
    takeAll(CallAssign.class).forEach(each -> answer(each, null));
    List<Fetch> fetches = takeAll(Fetch.class);
    assertThat(fetches).hasSize(count);
    return fetches;
  }

  @Test
  void ofManyIdleShardsEachHeartbeatNamesSomeAndAllInTurns() {
    int count = 2 * Heartbeat.MARKS_OF_TURN + 50;
    fetchesOf(count);
    assertThat(core.progress(now)).as("of shards that were fetched lately").hasSize(count);
    now += ShardReports.RECENT_MILLIS + 1;
    assertThat(heartbeats(3)).allMatch(marks -> marks.size() == Heartbeat.MARKS_OF_TURN);
    assertThat(named).hasSize(count);
  }

  @Test
  void idleShardsAreNamedHoweverManyWork() {
    int working = Heartbeat.MARKS_MAX;
    int idle = 2 * Heartbeat.MARKS_OF_TURN;
    List<Fetch> fetches = fetchesOf(working + idle);
    heartbeats(4);
    now += ShardReports.RECENT_MILLIS + 1;
    heartbeats(4);
    for (Fetch each : fetches) {
      if (each.request().shard().shard() < working) {
        answer(each, answer(0, batch("k")));
      }
    }
    named.clear();
    for (List<ShardProgress> marks : heartbeats(2)) {
      assertThat(marks).hasSizeBetween(Heartbeat.MARKS_OF_TURN, Heartbeat.MARKS_MAX);
    }
    assertThat(named).hasSize(working + idle);
  }
}
