package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.DeliveryPolicy;
import dev.evenkeel.client.Rate;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallAssign;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallLost;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallRelease;
import dev.evenkeel.client.internal.consume.ConsumerAction.Commit;
import dev.evenkeel.client.internal.consume.ConsumerAction.CommitPositions;
import dev.evenkeel.client.internal.consume.ConsumerAction.Fetch;
import dev.evenkeel.client.internal.consume.ConsumerAction.OpenPublisher;
import dev.evenkeel.client.internal.consume.ConsumerAction.Opened;
import dev.evenkeel.client.internal.consume.ConsumerAction.Publish;
import dev.evenkeel.client.internal.consume.ConsumerAction.ReadLease;
import dev.evenkeel.client.internal.consume.ConsumerAction.RecordOutcomes;
import dev.evenkeel.client.internal.consume.ConsumerAction.Release;
import dev.evenkeel.client.internal.consume.ConsumerAction.Report;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.ShardGroups;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class DeliveryPolicyTest extends CoreBench {
  private static final Shard OUT = new Shard(2, 0);

  private ConsumerOptions.Order order = ConsumerOptions.Order.SHARD;

  /** Whether onRelease gives a state. */
  private boolean givesState;

  private int handOut = 4;
  private Rate keyRate;

  private void start(DeliveryPolicy delivery, boolean state, boolean publishes) {
    options.setHandOutMessages(handOut).setOrder(order).setDelivery(delivery);
    if (keyRate != null) {
      options.setKeyRate(keyRate);
    }
    HandlerKind kind = new HandlerKind(state, givesState, publishes, false);
    core = new ConsumerCore(options, "i", kind, new SplittableRandom(1));
    core.shardGroups(ShardGroups.formed(1));
    core.heartbeatAnswered(now);
    core.link(true, now);
    assign(false);
  }

  private void assign(boolean draining) {
    core.heartbeatAnswered(now);
    assign(new Assignment.Owned("t", S0, 1, draining, 0, 0));
  }

  private OwnedShard fetched(int count) {
    answer(take(CallAssign.class), null);
    Fetch fetch = take(Fetch.class);
    FetchAnswer.Placed batch = new FetchAnswer.Placed(0, batch(count));
    answer(fetch, new FetchAnswer(0, count, 0, List.of(batch)));
    return (OwnedShard) fetch.owned();
  }

  private static Batch batch(int count) {
    BatchBuilder builder = new BatchBuilder(256);
    for (int i = 0; i < count; i++) {
      builder.add(new Message(null, Map.of(), 0, new byte[10]));
    }
    return builder.build(1, 0, 0);
  }

  // ---- At most once

  @Test
  void atMostOnceNothingStartsBeforeItIsCommitted() {
    start(DeliveryPolicy.AT_MOST_ONCE, false, false);
    OwnedShard owned = fetched(10);
    assertThat(core.next(now)).isNull();
    Commit commit = take(Commit.class);
    assertThat(commit.command().offset()).isEqualTo(4);
    assertThat(core.next(now)).isNull();
    owned.commits.committed(4);
    for (int offset = 0; offset < 4; offset++) {
      core.finished(next(offset), now);
    }
    assertThat(core.next(now)).isNull();
    List<Commit> commits = takeAll(Commit.class);
    assertThat(commits).hasSize(1);
    owned.commits.committed(commits.get(0).command().offset());
    next(4);
  }

  @Test
  void atMostOnceWhatIsLostAtTheEndIsCommittedToo() {
    start(DeliveryPolicy.AT_MOST_ONCE, false, false);
    OwnedShard owned = fetched(2);
    take(Commit.class);
    owned.commits.committed(2);
    Task zero = next(0);
    Fetch fetch = take(Fetch.class);
    refuse(fetch, new RefusedException.OutOfRange(4, 4));
    core.finished(zero, now);
    core.finished(next(1), now);
    tick(100);
    assertThat(take(Commit.class).command().offset()).isEqualTo(4);
    owned.commits.committed(4);
    assertThat(owned.window().committed()).isEqualTo(4);
    assertThat(core.next(now)).isNull();
  }

  /** A filter leaves out messages, and retention drops some. */
  @Test
  void atMostOnceACommitThatEndsBetweenMessagesIsFollowedByAnother() {
    start(DeliveryPolicy.AT_MOST_ONCE, false, false);
    answer(take(CallAssign.class), null);
    Fetch fetch = take(Fetch.class);
    OwnedShard owned = (OwnedShard) fetch.owned();
    FetchAnswer.Placed first = new FetchAnswer.Placed(0, batch(2));
    FetchAnswer.Placed last = new FetchAnswer.Placed(4, batch(1));
    answer(fetch, new FetchAnswer(0, 5, 0, List.of(first, last)));
    assertThat(take(Commit.class).command().offset()).isEqualTo(4);
    owned.commits.committed(4);
    core.finished(next(0), now);
    core.finished(next(1), now);
    assertThat(core.next(now)).isNull();
    tick(100);
    assertThat(take(Commit.class).command().offset()).isEqualTo(5);
    owned.commits.committed(5);
    next(4);
  }

  @Test
  void atMostOnceWhatFailsIsNotTriedAgain() {
    start(DeliveryPolicy.AT_MOST_ONCE, false, false);
    OwnedShard owned = fetched(2);
    owned.commits.committed(take(Commit.class).command().offset());
    core.failed(next(0), new IllegalStateException("broken"), now);
    assertThat(takeAll(RecordOutcomes.class)).isEmpty();
    assertThat(take(Report.class).text()).contains("not tried again");
    core.finished(next(1), now);
    assertThat(core.running()).isZero();
    assertThat(core.next(now + 100_000)).isNull();
  }

  @Test
  void atMostOnceAReleaseWaitsForWhatIsCommitted() {
    start(DeliveryPolicy.AT_MOST_ONCE, false, false);
    OwnedShard owned = fetched(10);
    owned.commits.committed(take(Commit.class).command().offset());
    Task first = next(0);
    assign(true);
    core.finished(first, now);
    for (int offset = 1; offset < 4; offset++) {
      assertThat(takeAll(CallRelease.class)).isEmpty();
      core.finished(next(offset), now);
    }
    assertThat(core.next(now)).isNull();
    answer(take(CallRelease.class), null);
    assertThat(take(Release.class).command().offset()).isEqualTo(4);
    assertThat(takeAll(Report.class)).isEmpty();
  }

  /** Else the handover would wait for it for the whole lock time, and it would be lost. */
  @Test
  void atMostOnceWhatIsCommittedBeginsInAHandoverAlthoughItsShardIsPaused() {
    start(DeliveryPolicy.AT_MOST_ONCE, false, false);
    OwnedShard owned = fetched(2);
    owned.commits.committed(take(Commit.class).command().offset());
    core.paused(List.of(new Assignment.Paused(S0.topicId(), S0.shard())), now);
    assertThat(core.next(now)).isNull();
    assign(true);
    core.finished(next(0), now);
    core.finished(next(1), now);
    take(CallRelease.class);
  }

  @Test
  void atMostOnceAReleaseWaitsForACommitOnItsWayAndWhatItNames() {
    start(DeliveryPolicy.AT_MOST_ONCE, false, false);
    OwnedShard owned = fetched(10);
    owned.commits.committed(take(Commit.class).command().offset());
    for (int offset = 0; offset < 4; offset++) {
      core.finished(next(offset), now);
    }
    long named = take(Commit.class).command().offset();
    assertThat(named).isGreaterThan(4);
    assign(true);
    tick(10);
    assertThat(takeAll(CallRelease.class)).isEmpty();
    owned.commits.committed(named);
    for (long offset = 4; offset < named; offset++) {
      assertThat(takeAll(CallRelease.class)).isEmpty();
      core.finished(next(offset), now);
    }
    assertThat(core.next(now)).isNull();
    answer(take(CallRelease.class), null);
    assertThat(take(Release.class).command().offset()).isEqualTo(named);
  }

  /** The commit may have been taken: then nobody else would handle what it names. */
  @Test
  void atMostOnceAReleaseAsksAgainForACommitWhoseAnswerIsLost() {
    start(DeliveryPolicy.AT_MOST_ONCE, false, false);
    OwnedShard owned = fetched(10);
    owned.commits.committed(take(Commit.class).command().offset());
    for (int offset = 0; offset < 4; offset++) {
      core.finished(next(offset), now);
    }
    long named = take(Commit.class).command().offset();
    assign(true);
    owned.commits.commitFailed(new RefusedException(Refusal.INDETERMINATE, "lost"), now);
    assertThat(takeAll(CallRelease.class)).isEmpty();
    tick(2_000);
    assertThat(core.next(now)).isNull();
    assertThat(take(Commit.class).command().offset()).isEqualTo(named);
    owned.commits.committed(named);
    for (long offset = 4; offset < named; offset++) {
      assertThat(takeAll(CallRelease.class)).isEmpty();
      core.finished(next(offset), now);
    }
    answer(take(CallRelease.class), null);
    assertThat(take(Release.class).command().offset()).isEqualTo(named);
  }

  @Test
  void atMostOnceWhatIsLostWithTheShardIsTold() {
    start(DeliveryPolicy.AT_MOST_ONCE, false, false);
    OwnedShard owned = fetched(10);
    owned.commits.committed(take(Commit.class).command().offset());
    core.finished(next(0), now);
    owned.commits.commitFailed(new RefusedException(Refusal.FENCED, "another"), now);
    assertThat(takeAll(Report.class))
        .anyMatch(report -> report.text().contains("up to 3 messages from offset 1"));
  }

  // ---- Handlers that publish

  private OwnedShard attached(long producerId) {
    ReadLease read = take(ReadLease.class);
    answer(read, Commands.lease("g", S0, 1, "m", "i", 0, -1, null, null).publishingAs(producerId));
    return (OwnedShard) read.owned();
  }

  private void publisherOpened() {
    answer(take(OpenPublisher.class), new Opened(5, to -> to.dataGroup(3), Map.of()));
  }

  private void publishing(Task task) {
    task.newEffects().publish(OUT, new Message(null, Map.of(), 0, new byte[1]));
  }

  @Test
  void nothingIsHandledBeforeFormerOwnersAreFenced() {
    start(DeliveryPolicy.AT_LEAST_ONCE, false, true);
    attached(5);
    assertThat(takeAll(CallAssign.class)).isEmpty();
    OpenPublisher open = take(OpenPublisher.class);
    assertThat(open.producerId()).isEqualTo(5);
    refuse(open, new RefusedException(Refusal.UNAVAILABLE, "x"));
    assertThat(takeAll(CallAssign.class)).isEmpty();
    tick(2_000);
    attached(5);
    publisherOpened();
    fetched(1);
    next(0);
  }

  @Test
  void anInputIsFinishedWhenItsOutputsAreInTheLog() {
    start(DeliveryPolicy.AT_LEAST_ONCE, false, true);
    attached(0);
    publisherOpened();
    OwnedShard owned = fetched(3);
    Task first = next(0);
    publishing(first);
    core.finished(first, now);
    Publish publish = take(Publish.class);
    assertThat(core.next(now)).as("order shard").isNull();
    assertThat(owned.window().committed()).isZero();
    owned.outputs.publishFailed(
        publish.request(), new RefusedException(Refusal.INDETERMINATE, "?"), now);
    tick(2_000);
    Publish again = take(Publish.class);
    assertThat(again.request().outs()).isEqualTo(publish.request().outs());
    owned.outputs.published(again.request(), List.of(new Result(null, 17)), now);
    assertThat(owned.window().committed()).isEqualTo(1);
    core.finished(next(1), now);
    assertThat(takeAll(Publish.class)).isEmpty();
    assertThat(owned.window().committed()).isEqualTo(2);
  }

  @Test
  void whatIsRefusedForGoodBeginsTheShardAnew() {
    start(DeliveryPolicy.AT_LEAST_ONCE, false, true);
    attached(5);
    publisherOpened();
    OwnedShard owned = fetched(3);
    Task first = next(0);
    publishing(first);
    core.finished(first, now);
    owned.outputs.published(
        take(Publish.class).request(), List.of(new Result(Refusal.UNKNOWN_TOPIC, 0)), now);
    assertThat(take(CallLost.class).shard().shard()).isZero();
    assertThat(core.running()).isZero();
    assertThat(core.owned()).isZero();
    assign(false);
    attached(5);
  }

  @Test
  void whatFailsKeepsItsPlaceWhateverTheOrder() {
    start(DeliveryPolicy.AT_LEAST_ONCE, false, true);
    attached(5);
    publisherOpened();
    fetched(1);
    Task first = next(0);
    publishing(first);
    core.failed(first, new IllegalStateException("broken"), now);
    assertThat(takeAll(Publish.class)).isEmpty();
    assertThat(take(RecordOutcomes.class).command().outcomes())
        .allMatch(outcome -> outcome.toString().contains("HELD"));
  }

  private void startPublishing(int messages) {
    order = ConsumerOptions.Order.NONE;
    handOut = Math.max(handOut, keyRate == null ? messages : 0);
    start(DeliveryPolicy.AT_LEAST_ONCE, false, true);
    attached(5);
    publisherOpened();
    fetched(messages);
  }

  /** The first one fails, so that no output can be sent. */
  @Test
  void whatSucceedsCountsForTheBreakerBeforeItsOutputIsSent() {
    startPublishing(60);
    for (int i = 0; i < 60; i += 2) {
      core.failed(next(i), new IllegalStateException("broken"), now);
      Task well = next(i + 1);
      publishing(well);
      core.finished(well, now);
    }
    assertThat(takeAll(Publish.class)).isEmpty();
    assertThat(core.breakerOpen()).isFalse();
  }

  /** More may be in admission, and begin, than are handed out at a time. */
  @Test
  void whatFailedBeginsAgainAlthoughManyOutputsWaitForIt() {
    keyRate = new Rate(20, 1_000);
    startPublishing(8);
    handOutAll(8);
    Task first = next.get(0);
    core.failed(first, new IllegalStateException("broken"), now);
    RecordOutcomes failed = take(RecordOutcomes.class);
    answer(failed, new Reply.OfOffsets(List.of()));
    for (Task well : next.subList(1, 8)) {
      publishing(well);
      core.finished(well, now);
    }
    tick(60_000);
    Task again = core.admit(now);
    assertThat(again).isNotNull();
    assertThat(again.offset).isZero();
  }

  private final List<Task> next = new ArrayList<>();

  /** All are in admission before the first of them begins. */
  private void handOutAll(int count) {
    for (int i = 0; i < count; i++) {
      next.add(core.admit(now));
    }
    next.forEach(core::begin);
  }

  /** Else it would stay open: what fails while it is open does not count, and comes again. */
  @Test
  void whatSucceedsClosesTheBreakerBeforeItsOutputIsSent() {
    startPublishing(30);
    for (int i = 0; i < 20; i++) {
      core.failed(next(i), new IllegalStateException("broken"), now);
    }
    assertThat(core.breakerOpen()).isTrue();
    tick(1_000);
    Task well = next(20);
    publishing(well);
    core.finished(well, now);
    assertThat(takeAll(Publish.class)).isEmpty();
    assertThat(core.breakerOpen()).isFalse();
  }

  @Test
  void outputsBehindWhatKeepsFailingDoNotHoldAHandOverForEver() {
    order = ConsumerOptions.Order.NONE;
    start(DeliveryPolicy.AT_LEAST_ONCE, false, true);
    attached(5);
    publisherOpened();
    OwnedShard owned = fetched(2);
    Task first = next(0);
    Task second = next(1);
    publishing(second);
    core.finished(second, now);
    core.failed(first, new IllegalStateException("broken"), now);
    answer(take(RecordOutcomes.class), new Reply.OfOffsets(List.of()));
    assign(true);
    core.failed(next(0), new IllegalStateException("broken"), now);
    tick(10_000);
    assertThat(takeAll(CallRelease.class)).as("its turn may come yet").isEmpty();
    tick(40_000);
    answer(take(CallRelease.class), null);
    assertThat(takeAll(Publish.class)).isEmpty();
    assertThat(take(Release.class).command().offset()).isZero();
    assertThat(core.environment.flow.messages).isZero();
    assertThat(core.environment.flow.bytes).isZero();
  }

  @Test
  void aStateThatHasAnInputInItWhoseOutputsWereGivenUpIsNotHandedOver() {
    order = ConsumerOptions.Order.NONE;
    givesState = true;
    start(DeliveryPolicy.AT_LEAST_ONCE, true, true);
    attached(5);
    publisherOpened();
    OwnedShard owned = fetched(2);
    Task first = next(0);
    Task second = next(1);
    publishing(second);
    core.finished(second, now);
    core.failed(first, new IllegalStateException("broken"), now);
    answer(take(RecordOutcomes.class), new Reply.OfOffsets(List.of()));
    assign(true);
    tick(50_000);
    answer(take(CallRelease.class), new byte[] {9});
    var release = take(Release.class).command();
    assertThat(release.offset()).isZero();
    assertThat(release.stateOffset()).isZero();
    assertThat(release.state()).as("where it began, and not with message 1 in it").isEmpty();
  }

  @Test
  void outputsThatAreOnTheirWayAreAwaitedByAHandOver() {
    start(DeliveryPolicy.AT_LEAST_ONCE, false, true);
    attached(5);
    publisherOpened();
    OwnedShard owned = fetched(2);
    Task first = next(0);
    publishing(first);
    core.finished(first, now);
    Publish publish = take(Publish.class);
    assign(true);
    tick(48_000);
    assertThat(takeAll(CallRelease.class)).isEmpty();
    owned.outputs.published(publish.request(), List.of(new Result(null, 17)), now);
    answer(take(CallRelease.class), null);
    assertThat(take(Release.class).command().offset()).isEqualTo(1);
  }

  // ---- State by commits

  @Test
  void aStateIsCommittedWithItsOffsetAndReleased() {
    start(DeliveryPolicy.EFFECTIVELY_ONCE, true, true);
    attached(5);
    publisherOpened();
    OwnedShard owned = fetched(5);
    Task first = next(0);
    first.newEffects().commit(new byte[] {1});
    core.finished(first, now);
    core.finished(next(1), now);
    tick(6_000);
    Commit commit = take(Commit.class);
    assertThat(commit.command().offset()).isEqualTo(2);
    assertThat(commit.command().stateOffset()).isEqualTo(1);
    assertThat(commit.command().state()).containsExactly(1);
    owned.commits.committed(2);
    Task third = next(2);
    third.newEffects().commit(new byte[] {3});
    core.finished(third, now);
    assign(true);
    answer(take(CallRelease.class), null);
    var release = take(Release.class).command();
    assertThat(release.offset()).isEqualTo(3);
    assertThat(release.stateOffset()).isEqualTo(3);
    assertThat(release.state()).containsExactly(3);
  }

  @Test
  void withoutAStateYetTheNextOwnerBeginsWhereThisOneDid() {
    start(DeliveryPolicy.EFFECTIVELY_ONCE, true, true);
    attached(5);
    publisherOpened();
    fetched(5);
    core.finished(next(0), now);
    tick(6_000);
    var commit = (DataCommand.Commit) take(CommitPositions.class).command();
    assertThat(commit.stateOffset()).isZero();
    assign(true);
    answer(take(CallRelease.class), null);
    var release = take(Release.class).command();
    assertThat(release.offset()).isEqualTo(1);
    assertThat(release.stateOffset()).isZero();
    assertThat(release.state()).isEmpty();
  }
}
