package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.DeliveryPolicy;
import dev.evenkeel.client.Rate;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
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

class DeliveryPolicyTest {
  private static final Shard S0 = new Shard(1, 0);
  private static final Shard OUT = new Shard(2, 0);

  private final List<Wanted> actions = new ArrayList<>();
  private ConsumerCore core;
  private long now = 1_000_000;
  private long revision;

  private ConsumerOptions.Order order = ConsumerOptions.Order.SHARD;

  /** Whether onRelease gives a state. */
  private boolean givesState;

  private int handOut = 4;
  private Rate keyRate;

  private void start(DeliveryPolicy delivery, boolean state, boolean publishes) {
    ConsumerOptions options =
        new ConsumerOptions()
            .setGroup("g")
            .setMember("m")
            .setTopics(List.of("t"))
            .setHandOutMessages(handOut)
            .setOrder(order)
            .setDelivery(delivery);
    if (keyRate != null) {
      options.setKeyRate(keyRate);
    }
    core = new ConsumerCore(options, "i", state, givesState, publishes, new SplittableRandom(1));
    core.shardGroups(ShardGroups.formed(1));
    core.heartbeatAnswered(now);
    core.link(true, now);
    assign(false);
  }

  private void assign(boolean draining) {
    core.heartbeatAnswered(now);
    core.assigned(
        new Assignment(
            "g",
            "m",
            "i",
            1,
            ++revision,
            List.of(new Assignment.Owned("t", S0, 1, draining, 0, 0)),
            null),
        now);
  }

  private <A extends Wanted> List<A> takeAll(Class<A> type) {
    Wanted action;
    while ((action = Wanted.poll(core)) != null) {
      actions.add(action);
    }
    List<A> found = actions.stream().filter(type::isInstance).map(type::cast).toList();
    actions.removeAll(found);
    return found;
  }

  private <A extends Wanted> A take(Class<A> type) {
    List<A> found = takeAll(type);
    assertThat(found).as(type.getSimpleName()).hasSize(1);
    return found.get(0);
  }

  private OwnedShard fetched(int count) {
    take(Wanted.CallAssign.class).owned().takeover.assignDone(null, now);
    Wanted.Fetch fetch = take(Wanted.Fetch.class);
    FetchAnswer.Placed batch = new FetchAnswer.Placed(0, batch(count));
    fetch.owned().fetched(fetch.request(), new FetchAnswer(0, count, 0, List.of(batch)), now);
    return fetch.owned();
  }

  private static Batch batch(int count) {
    BatchBuilder builder = new BatchBuilder(256);
    for (int i = 0; i < count; i++) {
      builder.add(new Message(null, Map.of(), 0, new byte[10]));
    }
    return builder.build(1, 0, 0);
  }

  private void tick(long millis) {
    now += millis;
    core.heartbeatAnswered(now);
    core.tick(now);
  }

  private Task next(long offset) {
    Task task = core.next(now);
    assertThat(task).as("offset " + offset).isNotNull();
    assertThat(task.offset).isEqualTo(offset);
    return task;
  }

  // ---- At most once

  @Test
  void atMostOnceNothingStartsBeforeItIsCommitted() {
    start(DeliveryPolicy.AT_MOST_ONCE, false, false);
    OwnedShard owned = fetched(10);
    assertThat(core.next(now)).isNull();
    Wanted.Commit commit = take(Wanted.Commit.class);
    assertThat(commit.command().offset()).isEqualTo(4);
    assertThat(core.next(now)).isNull();
    owned.committed(4);
    for (int offset = 0; offset < 4; offset++) {
      core.finished(next(offset), now);
    }
    assertThat(core.next(now)).isNull();
    List<Wanted.Commit> commits = takeAll(Wanted.Commit.class);
    assertThat(commits).hasSize(1);
    owned.committed(commits.get(0).command().offset());
    next(4);
  }

  @Test
  void atMostOnceWhatIsLostAtTheEndIsCommittedToo() {
    start(DeliveryPolicy.AT_MOST_ONCE, false, false);
    OwnedShard owned = fetched(2);
    take(Wanted.Commit.class);
    owned.committed(2);
    Task zero = next(0);
    Wanted.Fetch fetch = take(Wanted.Fetch.class);
    owned.fetchFailed(fetch.request(), new RefusedException.OutOfRange(4, 4), now);
    core.finished(zero, now);
    core.finished(next(1), now);
    tick(100);
    assertThat(take(Wanted.Commit.class).command().offset()).isEqualTo(4);
    owned.committed(4);
    assertThat(owned.window().committed()).isEqualTo(4);
    assertThat(core.next(now)).isNull();
  }

  /** A filter leaves out messages, and retention drops some. */
  @Test
  void atMostOnceACommitThatEndsBetweenMessagesIsFollowedByAnother() {
    start(DeliveryPolicy.AT_MOST_ONCE, false, false);
    take(Wanted.CallAssign.class).owned().takeover.assignDone(null, now);
    Wanted.Fetch fetch = take(Wanted.Fetch.class);
    OwnedShard owned = fetch.owned();
    FetchAnswer.Placed first = new FetchAnswer.Placed(0, batch(2));
    FetchAnswer.Placed last = new FetchAnswer.Placed(4, batch(1));
    owned.fetched(fetch.request(), new FetchAnswer(0, 5, 0, List.of(first, last)), now);
    assertThat(take(Wanted.Commit.class).command().offset()).isEqualTo(4);
    owned.committed(4);
    core.finished(next(0), now);
    core.finished(next(1), now);
    assertThat(core.next(now)).isNull();
    tick(100);
    assertThat(take(Wanted.Commit.class).command().offset()).isEqualTo(5);
    owned.committed(5);
    next(4);
  }

  @Test
  void atMostOnceWhatFailsIsNotTriedAgain() {
    start(DeliveryPolicy.AT_MOST_ONCE, false, false);
    OwnedShard owned = fetched(2);
    owned.committed(take(Wanted.Commit.class).command().offset());
    core.failed(next(0), new IllegalStateException("broken"), now);
    assertThat(takeAll(Wanted.RecordOutcomes.class)).isEmpty();
    assertThat(take(Wanted.Report.class).text()).contains("not tried again");
    core.finished(next(1), now);
    assertThat(core.running()).isZero();
    assertThat(core.next(now + 100_000)).isNull();
  }

  @Test
  void atMostOnceAReleaseWaitsForWhatIsCommitted() {
    start(DeliveryPolicy.AT_MOST_ONCE, false, false);
    OwnedShard owned = fetched(10);
    owned.committed(take(Wanted.Commit.class).command().offset());
    Task first = next(0);
    assign(true);
    core.finished(first, now);
    for (int offset = 1; offset < 4; offset++) {
      assertThat(takeAll(Wanted.CallRelease.class)).isEmpty();
      core.finished(next(offset), now);
    }
    assertThat(core.next(now)).isNull();
    take(Wanted.CallRelease.class).owned().release.stateGiven(null, null, now);
    assertThat(take(Wanted.Release.class).command().offset()).isEqualTo(4);
    assertThat(takeAll(Wanted.Report.class)).isEmpty();
  }

  /** Else the handover would wait for it for the whole lock time, and it would be lost. */
  @Test
  void atMostOnceWhatIsCommittedBeginsInAHandoverAlthoughItsShardIsPaused() {
    start(DeliveryPolicy.AT_MOST_ONCE, false, false);
    OwnedShard owned = fetched(2);
    owned.committed(take(Wanted.Commit.class).command().offset());
    core.paused(List.of(new Assignment.Paused(S0.topicId(), S0.shard())), now);
    assertThat(core.next(now)).isNull();
    assign(true);
    core.finished(next(0), now);
    core.finished(next(1), now);
    take(Wanted.CallRelease.class);
  }

  @Test
  void atMostOnceAReleaseWaitsForACommitOnItsWayAndWhatItNames() {
    start(DeliveryPolicy.AT_MOST_ONCE, false, false);
    OwnedShard owned = fetched(10);
    owned.committed(take(Wanted.Commit.class).command().offset());
    for (int offset = 0; offset < 4; offset++) {
      core.finished(next(offset), now);
    }
    long named = take(Wanted.Commit.class).command().offset();
    assertThat(named).isGreaterThan(4);
    assign(true);
    tick(10);
    assertThat(takeAll(Wanted.CallRelease.class)).isEmpty();
    owned.committed(named);
    for (long offset = 4; offset < named; offset++) {
      assertThat(takeAll(Wanted.CallRelease.class)).isEmpty();
      core.finished(next(offset), now);
    }
    assertThat(core.next(now)).isNull();
    take(Wanted.CallRelease.class).owned().release.stateGiven(null, null, now);
    assertThat(take(Wanted.Release.class).command().offset()).isEqualTo(named);
  }

  /** The commit may have been taken: then nobody else would handle what it names. */
  @Test
  void atMostOnceAReleaseAsksAgainForACommitWhoseAnswerIsLost() {
    start(DeliveryPolicy.AT_MOST_ONCE, false, false);
    OwnedShard owned = fetched(10);
    owned.committed(take(Wanted.Commit.class).command().offset());
    for (int offset = 0; offset < 4; offset++) {
      core.finished(next(offset), now);
    }
    long named = take(Wanted.Commit.class).command().offset();
    assign(true);
    owned.commitFailed(new RefusedException(Refusal.INDETERMINATE, "lost"), now);
    assertThat(takeAll(Wanted.CallRelease.class)).isEmpty();
    tick(2_000);
    assertThat(core.next(now)).isNull();
    assertThat(take(Wanted.Commit.class).command().offset()).isEqualTo(named);
    owned.committed(named);
    for (long offset = 4; offset < named; offset++) {
      assertThat(takeAll(Wanted.CallRelease.class)).isEmpty();
      core.finished(next(offset), now);
    }
    take(Wanted.CallRelease.class).owned().release.stateGiven(null, null, now);
    assertThat(take(Wanted.Release.class).command().offset()).isEqualTo(named);
  }

  @Test
  void atMostOnceWhatIsLostWithTheShardIsTold() {
    start(DeliveryPolicy.AT_MOST_ONCE, false, false);
    OwnedShard owned = fetched(10);
    owned.committed(take(Wanted.Commit.class).command().offset());
    core.finished(next(0), now);
    owned.commitFailed(new RefusedException(Refusal.FENCED, "another"), now);
    assertThat(takeAll(Wanted.Report.class))
        .anyMatch(report -> report.text().contains("up to 3 messages from offset 1"));
  }

  // ---- Handlers that publish

  private OwnedShard attached(long producerId) {
    Wanted.ReadLease read = take(Wanted.ReadLease.class);
    read.owned()
        .takeover
        .leaseRead(
            Commands.lease("g", S0, 1, "m", "i", 0, -1, null, null).publishingAs(producerId), now);
    return read.owned();
  }

  private void publisherOpened() {
    take(Wanted.OpenPublisher.class)
        .owned()
        .takeover
        .publisherOpened(5, to -> to.dataGroup(3), Map.of(), now);
  }

  private void publishing(Task task) {
    task.newEffects().publish(OUT, new Message(null, Map.of(), 0, new byte[1]));
  }

  @Test
  void nothingIsHandledBeforeFormerOwnersAreFenced() {
    start(DeliveryPolicy.AT_LEAST_ONCE, false, true);
    attached(5);
    assertThat(takeAll(Wanted.CallAssign.class)).isEmpty();
    Wanted.OpenPublisher open = take(Wanted.OpenPublisher.class);
    assertThat(open.producerId()).isEqualTo(5);
    open.owned().takeover.publisherFailed(new RefusedException(Refusal.UNAVAILABLE, "x"), now);
    assertThat(takeAll(Wanted.CallAssign.class)).isEmpty();
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
    Wanted.Publish publish = take(Wanted.Publish.class);
    assertThat(core.next(now)).as("order shard").isNull();
    assertThat(owned.window().committed()).isZero();
    owned.outputs.publishFailed(
        publish.request(), new RefusedException(Refusal.INDETERMINATE, "?"), now);
    tick(2_000);
    Wanted.Publish again = take(Wanted.Publish.class);
    assertThat(again.request().outs()).isEqualTo(publish.request().outs());
    owned.outputs.published(again.request(), List.of(new Result(null, 17)), now);
    assertThat(owned.window().committed()).isEqualTo(1);
    core.finished(next(1), now);
    assertThat(takeAll(Wanted.Publish.class)).isEmpty();
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
        take(Wanted.Publish.class).request(), List.of(new Result(Refusal.UNKNOWN_TOPIC, 0)), now);
    assertThat(take(Wanted.CallLost.class).shard().shard()).isZero();
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
    assertThat(takeAll(Wanted.Publish.class)).isEmpty();
    assertThat(take(Wanted.RecordOutcomes.class).command().outcomes())
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
    assertThat(takeAll(Wanted.Publish.class)).isEmpty();
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
    Wanted.RecordOutcomes failed = take(Wanted.RecordOutcomes.class);
    failed.owned().recorded(failed.command(), List.of(), now);
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
    assertThat(takeAll(Wanted.Publish.class)).isEmpty();
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
    owned.recorded(take(Wanted.RecordOutcomes.class).command(), List.of(), now);
    assign(true);
    core.failed(next(0), new IllegalStateException("broken"), now);
    tick(10_000);
    assertThat(takeAll(Wanted.CallRelease.class)).as("its turn may come yet").isEmpty();
    tick(40_000);
    take(Wanted.CallRelease.class).owned().release.stateGiven(null, null, now);
    assertThat(takeAll(Wanted.Publish.class)).isEmpty();
    assertThat(take(Wanted.Release.class).command().offset()).isZero();
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
    owned.recorded(take(Wanted.RecordOutcomes.class).command(), List.of(), now);
    assign(true);
    tick(50_000);
    take(Wanted.CallRelease.class).owned().release.stateGiven(new byte[] {9}, null, now);
    var release = take(Wanted.Release.class).command();
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
    Wanted.Publish publish = take(Wanted.Publish.class);
    assign(true);
    tick(48_000);
    assertThat(takeAll(Wanted.CallRelease.class)).isEmpty();
    owned.outputs.published(publish.request(), List.of(new Result(null, 17)), now);
    take(Wanted.CallRelease.class).owned().release.stateGiven(null, null, now);
    assertThat(take(Wanted.Release.class).command().offset()).isEqualTo(1);
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
    Wanted.Commit commit = take(Wanted.Commit.class);
    assertThat(commit.command().offset()).isEqualTo(2);
    assertThat(commit.command().stateOffset()).isEqualTo(1);
    assertThat(commit.command().state()).containsExactly(1);
    owned.committed(2);
    Task third = next(2);
    third.newEffects().commit(new byte[] {3});
    core.finished(third, now);
    assign(true);
    take(Wanted.CallRelease.class).owned().release.stateGiven(null, null, now);
    var release = take(Wanted.Release.class).command();
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
    var commit = (DataCommand.Commit) take(Wanted.CommitPositions.class).batch().command();
    assertThat(commit.stateOffset()).isZero();
    assign(true);
    take(Wanted.CallRelease.class).owned().release.stateGiven(null, null, now);
    var release = take(Wanted.Release.class).command();
    assertThat(release.offset()).isEqualTo(1);
    assertThat(release.stateOffset()).isZero();
    assertThat(release.state()).isEmpty();
  }
}
