package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.client.ConsumerOptions.Order;
import dev.evenkeel.client.GivenBackException;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallAssign;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallLost;
import dev.evenkeel.client.internal.consume.ConsumerAction.Fetch;
import dev.evenkeel.client.internal.consume.ConsumerAction.GiveBack;
import dev.evenkeel.client.internal.consume.ConsumerAction.ReadLease;
import dev.evenkeel.client.internal.consume.ConsumerAction.RecordOutcomes;
import dev.evenkeel.client.internal.consume.ConsumerAction.Release;
import dev.evenkeel.protocol.Crashes;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages of shards whose owners died begin with care. */
class CareTest extends CoreBench {
  private static Assignment.Owned ofDead(Shard shard, long epoch, long committed, Crashes of) {
    return new Assignment.Owned("t", shard, epoch, false, 0, committed, null, of, null);
  }

  /** Owns a shard whose owners died, with ten messages from {@code committed} on. */
  private OwnedShard runAfter(Crashes crashes, long committed) {
    return runAfter(crashes, committed, 8);
  }

  private OwnedShard runAfter(Crashes crashes, long committed, int parallel) {
    options.setOrder(Order.NONE).setParallel(parallel);
    begin(false, false);
    assign(ofDead(S0, 3, committed, crashes));
    answer(take(CallAssign.class), null);
    Fetch fetch = take(Fetch.class);
    answer(fetch, answer(committed, batch(new String[10])));
    return (OwnedShard) fetch.owned();
  }

  /** The next message; the log records that it begins. */
  private Task nextAlone(OwnedShard shard, long offset) {
    assertThat(core.next(now)).as("the log does not know it yet").isNull();
    RecordOutcomes begun = take(RecordOutcomes.class);
    assertThat(begun.command().outcomes()).containsExactly(new Outcome.Begun(offset, false));
    assertThat(core.next(now)).isNull();
    record(begun);
    Task task = next(offset);
    assertThat(core.next(now)).as("another runs").isNull();
    return task;
  }

  /** A message that waits for its turn goes back to where it came from. */
  private void givesBack(long offset) {
    Task task = take(GiveBack.class).task();
    assertThat(task.offset).isEqualTo(offset);
    core.failed(task, new GivenBackException("it has not begun"), now);
  }

  private void commitOf(long offset) {
    assertThat(commitAfter(ConsumerCore.TICK_MILLIS).offset()).isEqualTo(offset);
    assertThat(core.next(now)).as("the last one is not committed").isNull();
    answer(sent, Reply.DONE);
  }

  @Test
  void aShardWhoseOwnersDiedIsHandledOneByOne() {
    OwnedShard shard = runAfter(new Crashes(5, 2, 8, -1), 5);
    for (long offset = 5; offset < 8; offset++) {
      Task task = nextAlone(shard, offset);
      assertThat(task.delivery("m").attempt()).isEqualTo(offset == 5 ? 3 : 1);
      finish(task);
      // Also behind the last one: a death before the log knows of it would count for nobody.
      commitOf(offset + 1);
    }
    next(8);
    next(9);
    next(10);
    assertThat(takeAll(RecordOutcomes.class)).as("care is over").isEmpty();
  }

  /** Its members may die of messages, and it is not among them. */
  @Test
  void aLevelDispatcherHandsOnWhatMembersDiedOfWithoutCareOfItsOwn() {
    options.setMember("dispatcher@n1");
    Crashes crashes = new Crashes(6, 50, 9, -1);
    OwnedShard shard = runAfter(crashes, 5);
    for (long offset = 5; offset < 10; offset++) {
      assertThat(next(offset).delivery("m").attempt()).isEqualTo(1);
    }
    assertThat(takeAll(RecordOutcomes.class)).isEmpty();
    assertThat(shard.care.crashes()).isEqualTo(crashes);
  }

  @Test
  void whatKilledTooManyOwnersBecomesADeadLetter() {
    OwnedShard shard = runAfter(new Crashes(6, 5, 9, -1), 5);
    core.finished(nextAlone(shard, 5), now);
    commitOf(6);
    assertThat(core.next(now)).as("6 does not begin, and 7 waits").isNull();
    RecordOutcomes dead = take(RecordOutcomes.class);
    Outcome.Failed failed = (Outcome.Failed) dead.command().outcomes().get(0);
    assertThat(failed.offset()).isEqualTo(6);
    assertThat(failed.way()).isEqualTo(Outcome.Way.DEAD);
    assertThat(failed.attempt()).as("each death was one").isEqualTo(5);
    assertThat(failed.error()).startsWith("its consumers died 5 times while it was handled");
    record(dead);
    assertThat(core.next(now)).isNull();
    commitOf(7);
    core.finished(nextAlone(shard, 7), now);
  }

  @Test
  void whatKilledTooManyOwnersIsTriedFurtherIfThatIsWanted() {
    options.setCrashesMax(0);
    OwnedShard shard = runAfter(new Crashes(5, 50, 9, -1), 5);
    assertThat(nextAlone(shard, 5).delivery("m").attempt()).isEqualTo(51);
  }

  @Test
  void aMessageThatIsNotOverTellsTheLogThatItDoesNotRun() {
    OwnedShard shard = runAfter(new Crashes(5, 2, 9, -1), 5);
    Task task = nextAlone(shard, 5);
    core.failed(task, new GivenBackException("not now"), now);
    tick(ConsumerCore.TICK_MILLIS);
    assertThat(recorded()).containsExactly(new Outcome.Begun(5, true));
    core.finished(nextAlone(shard, 6), now);
  }

  /** What waits for its turn is not lost when the shard goes, and does not hold it up. */
  @Test
  void aShardThatIsHandledOneByOneCanBeHandedOver() {
    OwnedShard shard = runAfter(new Crashes(5, 2, 9, -1), 5);
    core.finished(nextAlone(shard, 5), now);
    commitOf(6);
    assertThat(core.next(now)).isNull();
    RecordOutcomes begun = take(RecordOutcomes.class);
    assign(owned(S0, 3, true));
    record(begun);
    givesBack(6);
    begun = take(RecordOutcomes.class);
    assertThat(begun.command().outcomes()).containsExactly(new Outcome.Begun(6, true));
    record(begun);
    tick(ConsumerCore.TICK_MILLIS);
    assertThat(core.next(now)).isNull();
    assertThat(released().offset()).isEqualTo(6);
    assertThat(core.environment.flow.messages).isZero();
  }

  /** The state is behind the committed offset: what lies between is known not to kill anybody. */
  @Test
  void withStateTheMessagesThatBuildItUpAreNotHandledOneByOne() {
    options.setParallel(8);
    start(Order.SHARD);
    assign(ofDead(S0, 3, 5, new Crashes(5, 2, 9, -1)));
    answer(take(ReadLease.class), lease(S0, 3, 5, 2, new byte[] {1}));
    answer(take(CallAssign.class), null);
    Fetch fetch = take(Fetch.class);
    answer(fetch, answer(2, batch(new String[10])));
    for (long offset = 2; offset < 5; offset++) {
      finish(offset);
    }
    assertThat(core.next(now)).isNull();
    commitOf(3);
    commitOf(5);
    core.finished(nextAlone((OwnedShard) fetch.owned(), 5), now);
  }

  /** Owns another shard, whose owners live, with ten messages. */
  private OwnedShard ownAnother(Crashes crashes) {
    takeAll(Fetch.class);
    assign(ofDead(S0, 3, 5, crashes), owned(S1, 1, false));
    return run(S1, new String[10]);
  }

  private Task nextOf(int shard) {
    Task task = core.next(now);
    assertThat(task).isNotNull();
    assertThat(task.shard()).isEqualTo(shard);
    return task;
  }

  @Test
  void nothingElseBeginsWhileAMessageRunsWithCare() {
    Crashes crashes = new Crashes(5, 2, 9, -1);
    OwnedShard shard = runAfter(crashes, 5);
    Task five = nextAlone(shard, 5);
    ownAnother(crashes);
    assertThat(core.next(now)).isNull();
    finish(five);
    nextOf(1);
  }

  /** A shard that is busy afterwards is a shard like any other. */
  @Test
  void nobodyWaitsForAShardWhoseCareIsOver() {
    Crashes crashes = new Crashes(5, 2, 6, -1);
    OwnedShard shard = runAfter(crashes, 5);
    core.finished(nextAlone(shard, 5), now);
    commitOf(6);
    List<Task> running = List.of(next(6), next(7));
    ownAnother(crashes);
    while (core.next(now) != null) {
      // All that may begin does.
    }
    assertThat(core.running()).isEqualTo(8);
    running.forEach(task -> finish(task));
    nextOf(0);
    nextOf(1);
  }

  /** It may never end, or its shard may be another's since. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aHandlerThatDoesNotEndIsNotWaitedForForEver(boolean lost) {
    Crashes crashes = new Crashes(5, 2, 9, -1);
    OwnedShard shard = runAfter(crashes, 5);
    Task five = nextAlone(shard, 5);
    OwnedShard other = ownAnother(crashes);
    finish(five);
    nextOf(1);
    if (lost) {
      other.lose("it is another's", now);
    } else {
      core.paused(List.of(new Assignment.Paused(1, 1)), now);
    }
    committedAfter(ConsumerCore.TICK_MILLIS);
    assertThat(core.next(now)).isNull();
    assertThat(takeAll(RecordOutcomes.class)).as("another one runs").isEmpty();
    tick(Claims.ALONE_MILLIS);
    recorded();
    finish(6);
    commitOf(7);
    core.finished(nextAlone(shard, 7), now);
  }

  @Test
  void aMessageWithCareThatDoesNotEndHoldsUpOthersNotForEver() {
    Crashes crashes = new Crashes(5, 2, 6, -1);
    nextAlone(runAfter(crashes, 5), 5);
    ownAnother(crashes);
    assertThat(core.next(now)).isNull();
    tick(Claims.ALONE_MILLIS);
    nextOf(1);
  }

  @Test
  void aLogWithoutALeaderHoldsUpOtherShardsNotForEver() {
    Crashes crashes = new Crashes(5, 2, 9, -1);
    OwnedShard shard = runAfter(crashes, 5);
    assertThat(core.next(now)).isNull();
    take(RecordOutcomes.class);
    ownAnother(crashes);
    assertThat(core.next(now)).isNull();
    tick(Claims.ALONE_MILLIS);
    Task other = nextOf(1);
    assertThat(shard.state()).isEqualTo(OwnedShardState.RUNNING);
    finish(other);
  }

  /** It has waited for its rate, or for its key, and nobody can die of a message that waits. */
  @Test
  void theLogLearnsOfAMessageWhenItHasPassedAllAdmissionSteps() {
    OwnedShard shard = runAfter(new Crashes(5, 2, 9, -1), 5);
    Task five = core.admit(now);
    assertThat(five.offset).isEqualTo(5);
    assertThat(core.admit(now)).as("one by one").isNull();
    tick(ConsumerCore.TICK_MILLIS);
    assertThat(takeAll(RecordOutcomes.class)).isEmpty();
    core.begin(five);
    assertThat(core.holds(five, now)).isTrue();
    assertThat(core.claimed(now)).isNull();
    recorded();
    assertThat(core.claimed(now)).isSameAs(five);
    finish(five);
    commitOf(6);
    assertThat(core.admit(now).offset).isEqualTo(6);
  }

  /** No commit tells the log that it is over, because a message below it is not. */
  /** A careful shard, in which a message has failed and the one above it is handled. */
  private OwnedShard handledAboveAFailedMessage() {
    assign(ofDead(S0, 3, 5, new Crashes(5, 2, 9, -1)));
    answer(take(ReadLease.class), lease(S0, 3, 5, -1, null));
    answer(take(CallAssign.class), null);
    Fetch fetch = take(Fetch.class);
    OwnedShard shard = (OwnedShard) fetch.owned();
    answer(fetch, answer(5, batch(new String[10])));
    broken(nextAlone(shard, 5));
    recorded();
    core.finished(nextAlone(shard, 6), now);
    tick(ConsumerCore.TICK_MILLIS);
    return shard;
  }

  @Test
  void whatIsHandledAboveAFailedMessageIsOver() {
    options.setHoldFailed(true).setRetryDelaysMillis(List.of(60_000L));
    options.setOrder(Order.NONE).setParallel(8);
    begin(false, false);
    OwnedShard shard = handledAboveAFailedMessage();
    assertThat(recorded()).containsExactly(new Outcome.Begun(6, true));
    nextAlone(shard, 7);
  }

  @Test
  void aMessageThatWaitsToBeginWhenItsTopicIsPausedIsGivenBack() {
    Crashes crashes = new Crashes(5, 2, 9, -1);
    OwnedShard shard = runAfter(crashes, 5);
    ownAnother(crashes);
    assertThat(core.next(now)).isNull();
    RecordOutcomes begun = take(RecordOutcomes.class);
    core.paused(List.of(new Assignment.Paused(1, 0)), now);
    givesBack(5);
    record(begun);
    begun = take(RecordOutcomes.class);
    assertThat(begun.command().outcomes()).containsExactly(new Outcome.Begun(5, true));
    record(begun);
    core.finished(nextOf(1), now);
    tick(ConsumerCore.TICK_MILLIS);
    takeAll(Fetch.class);
    core.paused(List.of(), now);
    tick(1_000);
    fetches(5, new String[10]);
    Task other;
    while ((other = core.next(now)) != null) {
      finish(other);
    }
    assertThat(take(RecordOutcomes.class).command().outcomes())
        .containsExactly(new Outcome.Begun(5, false));
  }

  /** Else it would be taken for stuck, which counts as another death. */
  @Test
  void aShardThatWaitsForCareIsNotStalled() {
    Crashes crashes = new Crashes(5, 2, 6, -1);
    OwnedShard shard = runAfter(crashes, 5);
    OwnedShard other = ownAnother(crashes);
    assertThat(other.reports.progress(now).stalledMillis()).isZero();
    nextAlone(shard, 5);
    now += 5_000;
    assertThat(other.reports.progress(now).stalledMillis()).isNull();
    assertThat(shard.reports.progress(now).stalledMillis()).isNotNull();
  }

  /** Nobody may be there to take the shard over, so that it is not asked for. */
  @Test
  void theEndOfAMemberThatClosesIsNoDeathOfWhatRuns() {
    OwnedShard shard = runAfter(new Crashes(5, 2, 9, -1), 5);
    nextAlone(shard, 5);
    core.close(now, 10_000);
    assertThat(take(RecordOutcomes.class).command().outcomes())
        .containsExactly(new Outcome.Begun(5, true));
  }

  private void dies(Task inHand) {
    assertThat(core.die(List.of(inHand.delivery("m")), now)).hasSize(1);
    core.close(now, 10_000);
  }

  private void isLeftWith(Task inHand, OwnedShard shard) {
    assertThat(shard.state()).isEqualTo(OwnedShardState.LOST);
    take(CallLost.class);
    core.failed(inHand, new GivenBackException("the shard is gone"), now);
    tick(ConsumerCore.TICK_MILLIS);
    none(RecordOutcomes.class, Release.class);
    assertThat(core.drained()).isTrue();
  }

  @Test
  void theEndOfAMemberThatDiesIsADeathOfWhatRuns() {
    OwnedShard shard = runAfter(new Crashes(5, 2, 9, -1), 5);
    Task five = nextAlone(shard, 5);
    dies(five);
    isLeftWith(five, shard);
  }

  /** Another member has joined meanwhile, and is to get the shard. */
  @Test
  void soItIsIfTheShardWasToBeGivenAway() {
    OwnedShard shard = runAfter(new Crashes(5, 2, 9, -1), 5);
    Task five = nextAlone(shard, 5);
    assign(owned(S0, 3, true));
    RecordOutcomes over = take(RecordOutcomes.class);
    assertThat(over.command().outcomes()).containsExactly(new Outcome.Begun(5, true));
    dies(five);
    record(over);
    RecordOutcomes begun = take(RecordOutcomes.class);
    assertThat(begun.command().outcomes()).containsExactly(new Outcome.Begun(5, false));
    assertThat(shard.state()).isEqualTo(OwnedShardState.DRAINING);
    record(begun);
    isLeftWith(five, shard);
  }

  /** What only waits has no handler, and must not take the place of one. */
  @Test
  void messagesThatWaitForALogWithoutALeaderTakeNoHandler() {
    Crashes crashes = new Crashes(5, 2, 9, -1);
    OwnedShard shard = runAfter(crashes, 5, 1);
    assertThat(core.next(now)).isNull();
    RecordOutcomes begun = take(RecordOutcomes.class);
    ownAnother(crashes);
    tick(Claims.ALONE_MILLIS);
    Task other = nextOf(1);
    record(begun);
    assertThat(core.next(now)).as("one handler at a time").isNull();
    finish(other);
    core.finished(nextOf(0), now);
    assertThat(core.running()).isZero();
  }

  /** The state has what was handled above it: a handover waits until the hole is closed. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aFailedMessageBelowOthersIsHandledBeforeItsShardGoes(boolean held) {
    options.setRetryDelaysMillis(List.of(1_000L));
    options.setOrder(Order.NONE).setParallel(8);
    begin(true, true);
    OwnedShard shard = handledAboveAFailedMessage();
    recorded();
    if (held) {
      tick(2_000);
      assertThat(core.next(now)).isNull();
    }
    assign(owned(S0, 3, true));
    if (!held) {
      tick(ConsumerCore.TICK_MILLIS);
      assertThat(core.next(now)).isNull();
    }
    recorded();
    tick(ConsumerCore.TICK_MILLIS);
    assertThat(takeAll(GiveBack.class)).isEmpty();
    finish(5);
    tick(ConsumerCore.TICK_MILLIS);
    assertThat(released(new byte[] {1}).offset()).isEqualTo(7);
  }
}
