package dev.evenkeel.broker.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.FailureFigures;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.protocol.Generation;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Shard 0 is sealed, shards 1 and 2 take its place. */
class SealedNeedTest {
  private static final FailureFigures NONE =
      new FailureFigures("g", new Shard(7, 0), 0, 0, 0, 0, 0);

  private final Map<Shard, ShardStatus> statuses = new HashMap<>();
  private final TopicInfo topic =
      new TopicInfo(7, "t", 1, TopicConfig.DEFAULT, TopicInfo.State.ACTIVE, 1)
          .opening(2, List.of())
          .opened(2);

  private static Shard shard(int number) {
    return new Shard(7, number);
  }

  private static Lease lease(int shard, long committed, long stateOffset, Lease.Stage stage) {
    return new Lease(
        "g",
        shard(shard),
        1,
        null,
        null,
        committed,
        stateOffset,
        null,
        null,
        0,
        Generation.FIRST,
        5_000,
        stage,
        null,
        null);
  }

  private static Lease finished(long stateOffset) {
    return lease(0, 9, stateOffset, Lease.Stage.FINISHED);
  }

  private void status(
      int shard, long start, FailureFigures failures, ShardStatus.Delayed delayed, Lease... lease) {
    statuses.put(
        shard(shard),
        new ShardStatus(shard(shard), start, 9, 0, 0, List.of(lease), List.of(failures), delayed));
  }

  private void empty(int shard, Lease... lease) {
    status(shard, 9, NONE, ShardStatus.Delayed.NONE, lease);
  }

  private boolean isOver() {
    return SealedNeed.isOver(topic, statuses);
  }

  @BeforeEach
  void nobodyNeedsIt() {
    empty(0);
    empty(1);
    empty(2);
    assertThat(isOver()).isTrue();
  }

  @Test
  void whatIsLeftOnTheShardIsNeeded() {
    status(0, 8, NONE, ShardStatus.Delayed.NONE);
    assertThat(isOver()).as("a message").isFalse();
    status(0, 9, NONE, new ShardStatus.Delayed(1, 10, 5));
    assertThat(isOver()).as("a delayed message").isFalse();
    FailureFigures dead = new FailureFigures("g", shard(0), 0, 0, 0, 1, 0);
    status(0, 9, dead, ShardStatus.Delayed.NONE);
    assertThat(isOver()).as("a dead letter").isFalse();
    statuses.remove(shard(0));
    assertThat(isOver()).as("what its leader did not tell").isFalse();
  }

  @Test
  void everyGroupMustBeFinished() {
    empty(0, lease(0, 9, -1, Lease.Stage.CONSUMING));
    assertThat(isOver()).isFalse();
    empty(0, finished(-1));
    assertThat(isOver()).isTrue();
  }

  @Test
  void aStateMustLiveOnInEveryChild() {
    empty(0, finished(9));
    assertThat(isOver()).as("no child has an owner yet").isFalse();
    status(1, 0, NONE, ShardStatus.Delayed.NONE, lease(1, 5, -1, Lease.Stage.CONSUMING));
    empty(2, lease(2, 5, 0, Lease.Stage.CONSUMING));
    assertThat(isOver()).as("a child has the state it began with").isFalse();
    empty(2, lease(2, 5, 4, Lease.Stage.CONSUMING));
    assertThat(isOver()).isTrue();
    statuses.remove(shard(1));
    assertThat(isOver()).as("the leader of a child does not tell").isFalse();
  }

  /** A lease may begin without an owner, and behind messages that retention has dropped. */
  @Test
  void aLeaseThatWasOpenedWhereTheChildBeginsHasNotGoneOn() {
    empty(0, finished(9));
    status(1, 5, NONE, ShardStatus.Delayed.NONE, lease(1, 5, -1, Lease.Stage.CONSUMING));
    status(2, 3, NONE, ShardStatus.Delayed.NONE, lease(2, 6, 6, Lease.Stage.CONSUMING));
    assertThat(isOver()).isFalse();
    status(1, 5, NONE, ShardStatus.Delayed.NONE, lease(1, 6, -1, Lease.Stage.CONSUMING));
    assertThat(isOver()).isTrue();
  }

  @Test
  void aChildThatFinishedWithoutAMessageLeavesItToItsOwnChildren() {
    TopicInfo twice = topic.opening(2, List.of()).opened(3);
    empty(0, finished(9));
    empty(1, lease(1, 0, -1, Lease.Stage.FINISHED));
    empty(2, lease(2, 4, 4, Lease.Stage.FINISHED));
    empty(3);
    empty(4);
    assertThat(SealedNeed.isOver(twice, statuses)).isFalse();
    empty(3, lease(3, 0, -1, Lease.Stage.CONSUMING));
    assertThat(SealedNeed.isOver(twice, statuses)).as("nothing yet").isFalse();
    empty(3, lease(3, 2, 2, Lease.Stage.CONSUMING));
    assertThat(SealedNeed.isOver(twice, statuses)).isTrue();
  }
}
