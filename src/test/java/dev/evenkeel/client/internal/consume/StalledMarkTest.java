package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.protocol.Shard;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What heartbeats tell of shards on which nothing is finished. */
class StalledMarkTest {
  private final ProgressReports book = new ProgressReports();
  private final OwnedShard hold =
      new OwnedShard("t", new Shard(1, 0), 3, ConsumerOptions.Order.SHARD, 32);

  private Long stalled(long now) {
    List<ShardProgress> marks = book.take(List.of(hold), now);
    return marks.get(0).stalledMillis();
  }

  @Test
  void nothingInHandIsNoStall() {
    assertThat(stalled(1_000)).isNull();
    assertThat(stalled(90_000)).isNull();
  }

  @Test
  void itGrowsUntilSomethingIsFinished() {
    hold.pendingMessages = 5;
    assertThat(stalled(1_000)).isEqualTo(0);
    assertThat(stalled(31_000)).isEqualTo(30_000);
    hold.lastFinishedMillis = 31_500;
    assertThat(stalled(32_000)).isEqualTo(500);
    hold.pendingMessages = 0;
    assertThat(stalled(33_000)).isNull();
    hold.pendingMessages = 1;
    assertThat(stalled(90_000)).isEqualTo(0);
  }

  @Test
  void aHandlerThatOnlyFailsFinishesNothing() {
    hold.pendingMessages = 1;
    assertThat(stalled(1_000)).isEqualTo(0);
    hold.lastEndedMillis = 5_000;
    assertThat(stalled(6_000)).isEqualTo(5_000);
  }

  @Test
  void aCallOfOnAssignThatDoesNotEndIsInHand() {
    hold.state = OwnedShardState.ASSIGNING;
    hold.assignCalled = true;
    assertThat(stalled(1_000)).isEqualTo(0);
    assertThat(stalled(4_000)).isEqualTo(3_000);
    hold.state = OwnedShardState.RUNNING;
    assertThat(stalled(5_000)).isNull();
  }

  @Test
  void handlersOfALostShardAreToldOfWhileTheyRun() {
    hold.pendingMessages = 1;
    hold.running = 1;
    assertThat(stalled(1_000)).isEqualTo(0);
    hold.state = OwnedShardState.LOST;
    hold.stoppedMillis = 20_000;
    book.gone(hold);
    assertThat(book.take(List.of(), 60_000).get(0).stalledMillis()).isEqualTo(59_000);
    hold.running = 0;
    hold.pendingMessages = 0;
    hold.lastEndedMillis = 61_000;
    ShardProgress over = book.take(List.of(), 62_000).get(0);
    assertThat(over.stalledMillis()).isNull();
    assertThat(over.endedAgoMillis()).isEqualTo(1_000);
  }

  @Test
  void aHoldThatWaitsForAFormerOnesHandlersHasTheseInHand() {
    OwnedShard former = new OwnedShard("t", new Shard(1, 0), 2, ConsumerOptions.Order.SHARD, 32);
    former.running = 1;
    hold.predecessor = former;
    assertThat(stalled(1_000)).isEqualTo(0);
    assertThat(stalled(2_000)).isEqualTo(1_000);
    former.running = 0;
    assertThat(stalled(3_000)).isNull();
  }
}
