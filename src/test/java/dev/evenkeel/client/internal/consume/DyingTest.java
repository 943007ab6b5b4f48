package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.Order;
import dev.evenkeel.client.GivenBackException;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallLost;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallRelease;
import dev.evenkeel.client.internal.consume.ConsumerAction.Commit;
import dev.evenkeel.client.internal.consume.ConsumerAction.Fetch;
import dev.evenkeel.client.internal.consume.ConsumerAction.RecordOutcomes;
import dev.evenkeel.client.internal.consume.ConsumerAction.Release;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A member that ends as one that has died of messages in its hands: their shards are not released,
 * so that the log counts a death. All others are released as usual.
 */
class DyingTest extends CoreBench {
  private OwnedShard first;
  private OwnedShard second;

  private void runTwo() {
    options.setOrder(Order.NONE).setParallel(8);
    begin(false, false);
    assign(owned(S0, 3, false));
    first = run(S0, new String[3]);
    assign(owned(S0, 3, false), owned(S1, 4, false));
    takeAll(Fetch.class);
    second = run(S1, new String[3]);
  }

  private List<Task> begun(int messages) {
    List<Task> begun = new ArrayList<>();
    while (begun.size() < messages) {
      Task task = core.next(now);
      assertThat(task).isNotNull();
      begun.add(task);
    }
    return begun;
  }

  private List<MessageId> diesOf(Task... tasks) {
    List<MessageId> diedOf =
        core.die(List.of(tasks).stream().map(task -> task.delivery("m")).toList(), now);
    core.close(now, 10_000);
    return diedOf;
  }

  private static Task of(List<Task> tasks, OwnedShard shard, long offset) {
    return tasks.stream()
        .filter(task -> task.owner.ownership() == shard.ownership() && task.offset == offset)
        .findAny()
        .orElseThrow();
  }

  @Test
  void onlyTheShardsOfWhatItDiedOfAreNotReleased() {
    runTwo();
    List<Task> tasks = begun(6);
    core.finished(of(tasks, first, 0), now);
    assertThat(diesOf(of(tasks, first, 1))).containsExactly(new MessageId(S0, 1, 0));
    // What nobody has got is given back.
    tasks.stream()
        .filter(task -> task.owner.ownership() == second.ownership() || task.offset == 2)
        .forEach(task -> core.failed(task, new GivenBackException("nobody has it"), now));
    answer(take(CallRelease.class), null);
    Release release = take(Release.class);
    assertThat(release.owned()).isSameAs(second);
    answer(release, Reply.DONE);
    assertThat(second.state()).isEqualTo(OwnedShardState.RELEASED);

    // What is finished does not come again.
    assertThat(core.drained()).isFalse();
    assertThat(core.next(now)).isNull();
    DataCommand.Commit commit = commitAfter(ConsumerCore.TICK_MILLIS);
    assertThat(commit.shard()).isEqualTo(S0);
    assertThat(commit.offset()).isEqualTo(1);
    answer(sent, Reply.DONE);
    tick(ConsumerCore.TICK_MILLIS);
    assertThat(first.state()).isEqualTo(OwnedShardState.LOST);
    take(CallLost.class);
    assertThat(takeAll(Release.class)).isEmpty();
    assertThat(core.drained()).isTrue();
    core.failed(of(tasks, first, 1), new GivenBackException("its shard is gone"), now);
    assertThat(core.running()).isZero();
    assertThat(core.environment.flow.messages).isZero();
  }

  /** Else its attempts would not count, and the dead letter would be missing. */
  @Test
  void theLogGetsWhatFailedBefore() {
    runTwo();
    List<Task> tasks = begun(6);
    broken(of(tasks, first, 0));
    RecordOutcomes failed = take(RecordOutcomes.class);
    diesOf(of(tasks, first, 1));
    assertThat(first.state()).isEqualTo(OwnedShardState.DRAINING);
    refuse(failed, refused(Refusal.UNAVAILABLE));
    tick(5_000);
    RecordOutcomes again = take(RecordOutcomes.class);
    assertThat(again.command().outcomes().get(0)).isInstanceOf(Outcome.Failed.class);
    record(again);
    committedAfter(ConsumerCore.TICK_MILLIS);
    tick(ConsumerCore.TICK_MILLIS);
    assertThat(first.state()).isEqualTo(OwnedShardState.LOST);
  }

  /** The log may have no leader: then something comes twice, as after any death. */
  @Test
  void itDoesNotWaitForTheLogForEver() {
    runTwo();
    List<Task> tasks = begun(6);
    core.finished(of(tasks, first, 0), now);
    diesOf(of(tasks, first, 1));
    tick(9_000);
    assertThat(first.state()).isEqualTo(OwnedShardState.LOST);
  }

  /** A message that has begun never comes again there, so nothing can be held against it. */
  @Test
  void withAtMostOnceEverythingIsReleased() {
    options.setDelivery(ConsumerOptions.DeliveryPolicy.AT_MOST_ONCE);
    options.setOrder(Order.NONE).setParallel(8);
    begin(false, false);
    assign(owned(S0, 3, false));
    first = run(S0, new String[3]);
    tick(ConsumerCore.TICK_MILLIS);
    takeAll(Commit.class).forEach(each -> answer(each, Reply.DONE));
    Task task = next(0);
    assertThat(diesOf(task)).isEmpty();
    core.failed(task, new GivenBackException("nobody has it"), now);
    assertThat(takeAll(CallLost.class)).isEmpty();
    assertThat(first.state().over()).isFalse();
  }
}
