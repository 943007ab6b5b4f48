package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.client.ConsumerOptions.DeliveryPolicy;
import dev.evenkeel.client.ConsumerOptions.Order;
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
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.ShardGroups;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class DeliveryPolicyTest extends CoreBench {
  private static final Shard OUT = new Shard(2, 0);

  private Order order = Order.SHARD;

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
    return fetches(0, new String[count]);
  }

  // ---- At most once

  /** A member of at most once has committed the first of those messages. */
  private OwnedShard atMostOnce(int count) {
    start(DeliveryPolicy.AT_MOST_ONCE, false, false);
    OwnedShard owned = fetched(count);
    owned.commits.committed(named());
    return owned;
  }

  /** The one commit that was sent since the last call names the messages below that offset. */
  private long named() {
    return take(Commit.class).command().offset();
  }

  @Test
  void atMostOnceNothingStartsBeforeItIsCommitted() {
    start(DeliveryPolicy.AT_MOST_ONCE, false, false);
    OwnedShard owned = fetched(10);
    assertThat(core.next(now)).isNull();
    assertThat(named()).isEqualTo(4);
    assertThat(core.next(now)).isNull();
    owned.commits.committed(4);
    finish(0, 1, 2, 3);
    assertThat(core.next(now)).isNull();
    owned.commits.committed(named());
    next(4);
  }

  @Test
  void atMostOnceWhatIsLostAtTheEndIsCommittedToo() {
    OwnedShard owned = atMostOnce(2);
    Task zero = next(0);
    refuse(take(Fetch.class), new RefusedException.OutOfRange(4, 4));
    finish(zero);
    finish(1);
    tick(100);
    assertThat(named()).isEqualTo(4);
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
    FetchAnswer.Placed first = new FetchAnswer.Placed(0, batch(new String[2]));
    FetchAnswer.Placed last = new FetchAnswer.Placed(4, batch(new String[1]));
    answer(fetch, new FetchAnswer(0, 5, 0, List.of(first, last)));
    assertThat(named()).isEqualTo(4);
    owned.commits.committed(4);
    finish(0, 1);
    assertThat(core.next(now)).isNull();
    tick(100);
    assertThat(named()).isEqualTo(5);
    owned.commits.committed(5);
    next(4);
  }

  @Test
  void atMostOnceWhatFailsIsNotTriedAgain() {
    OwnedShard owned = atMostOnce(2);
    broken(next(0));
    assertThat(takeAll(RecordOutcomes.class)).isEmpty();
    assertThat(take(Report.class).text()).contains("not tried again");
    finish(1);
    assertThat(core.running()).isZero();
    assertThat(core.next(now + 100_000)).isNull();
  }

  /** Nothing was tried, and no later owner would handle what is committed. */
  @Test
  void atMostOnceWhatFoundNobodyThereIsTriedAgainAlsoInAHandover() {
    OwnedShard owned = atMostOnce(2);
    away(next(0));
    assertThat(core.next(now)).isNull();
    tick(1_000);
    assign(true);
    away(next(0));
    assertThat(takeAll(CallRelease.class)).isEmpty();
    tick(1_000);
    releasedAfter(0, owned.commits.committed());
    assertThat(takeAll(Report.class)).isEmpty();
  }

  private void away(Task task) {
    core.failed(task, new AwayException("nobody is there"), now);
  }

  /** The next owner gets it, as the same attempt. */
  @Test
  void whatFoundNobodyThereDoesNotHoldUpAHandover() {
    start(DeliveryPolicy.AT_LEAST_ONCE, false, false);
    fetched(2);
    Task first = next(0);
    assign(true);
    away(first);
    assertThat(core.next(now)).isNull();
    assertThat(released().offset()).isZero();
    assertThat(takeAll(RecordOutcomes.class)).isEmpty();
  }

  @Test
  void atMostOnceAReleaseWaitsForWhatIsCommitted() {
    OwnedShard owned = atMostOnce(10);
    Task first = next(0);
    assign(true);
    finish(first);
    releasedAfter(1, 4);
    assertThat(takeAll(Report.class)).isEmpty();
  }

  /** Else the handover would wait for it for the whole lock time, and it would be lost. */
  @Test
  void atMostOnceWhatIsCommittedBeginsInAHandoverAlthoughItsShardIsPaused() {
    OwnedShard owned = atMostOnce(2);
    core.paused(List.of(new Assignment.Paused(S0.topicId(), S0.shard())), now);
    assertThat(core.next(now)).isNull();
    assign(true);
    finish(0, 1);
    take(CallRelease.class);
  }

  @Test
  void atMostOnceAReleaseWaitsForACommitOnItsWayAndWhatItNames() {
    OwnedShard owned = atMostOnce(10);
    finish(0, 1, 2, 3);
    long named = named();
    assertThat(named).isGreaterThan(4);
    assign(true);
    tick(10);
    assertThat(takeAll(CallRelease.class)).isEmpty();
    owned.commits.committed(named);
    releasedAfter(4, named);
  }

  /** The commit may have been taken: then nobody else would handle what it names. */
  @Test
  void atMostOnceAReleaseAsksAgainForACommitWhoseAnswerIsLost() {
    OwnedShard owned = atMostOnce(10);
    finish(0, 1, 2, 3);
    long named = named();
    assign(true);
    owned.commits.commitFailed(new RefusedException(Refusal.INDETERMINATE, "lost"), now);
    assertThat(takeAll(CallRelease.class)).isEmpty();
    tick(2_000);
    assertThat(core.next(now)).isNull();
    assertThat(named()).isEqualTo(named);
    owned.commits.committed(named);
    releasedAfter(4, named);
  }

  @Test
  void atMostOnceWhatIsLostWithTheShardIsTold() {
    OwnedShard owned = atMostOnce(10);
    finish(0);
    owned.commits.commitFailed(new RefusedException(Refusal.FENCED, "another"), now);
    assertThat(takeAll(Report.class))
        .anyMatch(report -> report.text().contains("up to 3 messages from offset 1"));
  }

  /** The shard is released when all below {@code end} have ended, and not before. */
  private void releasedAfter(long first, long end) {
    for (long offset = first; offset < end; offset++) {
      assertThat(takeAll(CallRelease.class)).isEmpty();
      finish(offset);
    }
    assertThat(core.next(now)).isNull();
    assertThat(released().offset()).isEqualTo(end);
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

  private Task publishing(Task task) {
    task.newEffects().publish(OUT, new Message(null, Map.of(), 0, new byte[1]));
    return task;
  }

  /** A member that publishes, with so many messages in its hands. */
  private OwnedShard publisher(DeliveryPolicy delivery, boolean state, int messages) {
    start(delivery, state, true);
    attached(5);
    publisherOpened();
    return fetched(messages);
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
    OwnedShard owned = publisher(DeliveryPolicy.AT_LEAST_ONCE, false, 3);
    finish(publishing(next(0)));
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
    finish(1);
    assertThat(takeAll(Publish.class)).isEmpty();
    assertThat(owned.window().committed()).isEqualTo(2);
  }

  @Test
  void whatIsRefusedForGoodBeginsTheShardAnew() {
    OwnedShard owned = publisher(DeliveryPolicy.AT_LEAST_ONCE, false, 3);
    finish(publishing(next(0)));
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
    publisher(DeliveryPolicy.AT_LEAST_ONCE, false, 1);
    broken(publishing(next(0)));
    assertThat(takeAll(Publish.class)).isEmpty();
    assertThat(take(RecordOutcomes.class).command().outcomes())
        .allMatch(outcome -> outcome.toString().contains("HELD"));
  }

  private void startPublishing(int messages) {
    order = Order.NONE;
    handOut = Math.max(handOut, keyRate == null ? messages : 0);
    publisher(DeliveryPolicy.AT_LEAST_ONCE, false, messages);
  }

  /** The first one fails, so that no output can be sent. */
  @Test
  void whatSucceedsCountsForTheBreakerBeforeItsOutputIsSent() {
    startPublishing(60);
    for (int i = 0; i < 60; i += 2) {
      broken(next(i));
      finish(publishing(next(i + 1)));
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
    broken(first);
    recorded();
    for (Task well : next.subList(1, 8)) {
      finish(publishing(well));
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
      broken(next(i));
    }
    assertThat(core.breakerOpen()).isTrue();
    tick(1_000);
    finish(publishing(next(20)));
    assertThat(takeAll(Publish.class)).isEmpty();
    assertThat(core.breakerOpen()).isFalse();
  }

  private void secondPublishesAndFirstFails() {
    Task first = next(0);
    finish(publishing(next(1)));
    broken(first);
    recorded();
  }

  @Test
  void outputsBehindWhatKeepsFailingDoNotHoldAHandOverForEver() {
    order = Order.NONE;
    OwnedShard owned = publisher(DeliveryPolicy.AT_LEAST_ONCE, false, 2);
    secondPublishesAndFirstFails();
    assign(true);
    broken(next(0));
    tick(10_000);
    assertThat(takeAll(CallRelease.class)).as("its turn may come yet").isEmpty();
    tick(40_000);
    answer(take(CallRelease.class), null);
    assertThat(takeAll(Publish.class)).isEmpty();
    assertThat(take(Release.class).command().offset()).isZero();
    nothingIsPending();
  }

  @Test
  void aStateThatHasAnInputInItWhoseOutputsWereGivenUpIsNotHandedOver() {
    order = Order.NONE;
    givesState = true;
    OwnedShard owned = publisher(DeliveryPolicy.AT_LEAST_ONCE, true, 2);
    secondPublishesAndFirstFails();
    assign(true);
    tick(50_000);
    var release = released(new byte[] {9});
    assertThat(release.offset()).isZero();
    assertThat(release.stateOffset()).isZero();
    assertThat(release.state()).as("where it began, and not with message 1 in it").isEmpty();
  }

  @Test
  void outputsThatAreOnTheirWayAreAwaitedByAHandOver() {
    OwnedShard owned = publisher(DeliveryPolicy.AT_LEAST_ONCE, false, 2);
    finish(publishing(next(0)));
    Publish publish = take(Publish.class);
    assign(true);
    tick(48_000);
    assertThat(takeAll(CallRelease.class)).isEmpty();
    owned.outputs.published(publish.request(), List.of(new Result(null, 17)), now);
    assertThat(released().offset()).isEqualTo(1);
  }

  // ---- State by commits

  @Test
  void aStateIsCommittedWithItsOffsetAndReleased() {
    OwnedShard owned = publisher(DeliveryPolicy.EFFECTIVELY_ONCE, true, 5);
    Task first = next(0);
    first.newEffects().commit(new byte[] {1});
    finish(first);
    finish(1);
    tick(6_000);
    Commit commit = take(Commit.class);
    assertThat(commit.command().offset()).isEqualTo(2);
    assertThat(commit.command().stateOffset()).isEqualTo(1);
    assertThat(commit.command().state()).containsExactly(1);
    owned.commits.committed(2);
    Task third = next(2);
    third.newEffects().commit(new byte[] {3});
    finish(third);
    assign(true);
    var release = released();
    assertThat(release.offset()).isEqualTo(3);
    assertThat(release.stateOffset()).isEqualTo(3);
    assertThat(release.state()).containsExactly(3);
  }

  @Test
  void withoutAStateYetTheNextOwnerBeginsWhereThisOneDid() {
    publisher(DeliveryPolicy.EFFECTIVELY_ONCE, true, 5);
    finish(0);
    tick(6_000);
    var commit = (DataCommand.Commit) take(CommitPositions.class).command();
    assertThat(commit.stateOffset()).isZero();
    assign(true);
    var release = released();
    assertThat(release.offset()).isEqualTo(1);
    assertThat(release.stateOffset()).isZero();
    assertThat(release.state()).isEmpty();
  }
}
