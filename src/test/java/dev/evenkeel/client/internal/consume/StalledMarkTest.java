package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.client.internal.consume.ConsumerAction.Fetch;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.wire.BatchBuilder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What heartbeats report of shards on which nothing is finished. */
class StalledMarkTest {
  private final Shards shards = new Shards();
  private final OwnedShard shard = shards.shard(null);
  private long end;

  private Long stalled(long now) {
    return shard.reports.progress(now).stalledMillis();
  }

  private void run(long now) {
    shard.step(now);
    shard.takeover.assignDone(null, now);
  }

  /** Answers its fetch. */
  private void fetched(int messages, long now) {
    BatchBuilder batch = new BatchBuilder(256);
    for (int i = 0; i < messages; i++) {
      batch.add(new Message(null, Map.of(), 0, new byte[1]));
    }
    Fetch fetch =
        shards.actions.stream()
            .filter(Fetch.class::isInstance)
            .map(Fetch.class::cast)
            .reduce((first, last) -> last)
            .orElseThrow();
    FetchAnswer.Placed placed = new FetchAnswer.Placed(end, batch.build(1, 0, 0));
    end += messages;
    shard.answered(fetch, Answer.of(new FetchAnswer(0, end, 0, List.of(placed))), now);
  }

  @Test
  void nothingInHandIsNoStall() {
    assertThat(stalled(1_000)).isNull();
    run(1_000);
    assertThat(stalled(90_000)).isNull();
  }

  @Test
  void itGrowsUntilSomethingIsFinished() {
    run(1_000);
    fetched(5, 1_000);
    assertThat(stalled(1_000)).isEqualTo(0);
    assertThat(stalled(31_000)).isEqualTo(30_000);
    shard.handling.finished(shard.handling.next(false, 31_000), 31_500);
    assertThat(stalled(32_000)).isEqualTo(500);
    for (int i = 0; i < 4; i++) {
      shard.handling.finished(shard.handling.next(false, 33_000), 33_000);
    }
    assertThat(stalled(33_000)).isNull();
    shard.step(34_000);
    fetched(1, 90_000);
    assertThat(stalled(90_000)).isEqualTo(0);
  }

  @Test
  void thePositionIsTheLowestUnfinishedOffset() {
    assertThat(shard.reports.progress(1_000).position()).as("before it has begun").isNull();
    run(1_000);
    assertThat(shard.reports.progress(1_000).position()).isEqualTo(0);
    fetched(3, 1_000);
    Task first = shard.handling.next(false, 1_000);
    assertThat(shard.reports.progress(1_000).position()).isEqualTo(0);
    shard.handling.finished(first, 1_000);
    assertThat(shard.reports.progress(1_000).position()).isEqualTo(1);
  }

  @Test
  void aHandlerThatOnlyFailsFinishesNothing() {
    run(1_000);
    fetched(1, 1_000);
    assertThat(stalled(1_000)).isEqualTo(0);
    shard.handling.failed(
        shard.handling.next(false, 2_000), new IllegalStateException("broken"), 0, 5_000);
    assertThat(stalled(6_000)).isEqualTo(5_000);
  }

  @Test
  void aCallOfOnAssignThatDoesNotEndIsInHand() {
    shard.step(1_000);
    assertThat(shard.state()).isEqualTo(OwnedShardState.ASSIGNING);
    assertThat(stalled(1_000)).isEqualTo(0);
    assertThat(stalled(4_000)).isEqualTo(3_000);
    shard.takeover.assignDone(null, 4_500);
    assertThat(stalled(5_000)).isNull();
  }

  @Test
  void handlersOfALostShardAreReportedWhileTheyRun() {
    run(1_000);
    fetched(1, 1_000);
    Task task = shard.handling.next(false, 1_000);
    assertThat(stalled(1_000)).isEqualTo(0);
    shard.lose("it is another's", 20_000);
    OwnedShards all = shards.all();
    all.gone(shard);
    assertThat(all.progress(60_000).get(0).stalledMillis()).isEqualTo(59_000);
    shard.handling.failed(task, new IllegalStateException("late"), 0, 61_000);
    ShardProgress over = all.progress(62_000).get(0);
    assertThat(over.endedAgoMillis()).isEqualTo(1_000);
  }

  @Test
  void anOwnerThatWaitsForAFormerOnesHandlersHasTheseInHand() {
    OwnedShard former = shards.shard(null);
    Task retry = Shards.task(former, 1, true);
    former.handling.begin(retry);
    OwnedShard waits = shards.shard(former);
    assertThat(waits.reports.progress(1_000).stalledMillis()).isEqualTo(0);
    assertThat(waits.reports.progress(2_000).stalledMillis()).isEqualTo(1_000);
    former.lose("it is another's", 2_500);
    former.handling.finished(retry, 2_600);
    assertThat(waits.reports.progress(3_000).stalledMillis()).isNull();
  }
}
