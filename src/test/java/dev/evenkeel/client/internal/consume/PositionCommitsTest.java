package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallAssign;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallLost;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallRelease;
import dev.evenkeel.client.internal.consume.ConsumerAction.Commit;
import dev.evenkeel.client.internal.consume.ConsumerAction.CommitPositions;
import dev.evenkeel.client.internal.consume.ConsumerAction.Fetch;
import dev.evenkeel.client.internal.consume.ConsumerAction.Release;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.DataCommand.CommitMany.Position;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Reply.OfCommits.RefusedCommit;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.ShardGroups;
import dev.evenkeel.protocol.wire.BatchBuilder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Commits of many shards, in virtual time: a tick comes every 50 ms. */
class PositionCommitsTest {
  private static final int MESSAGES = 2_000;
  private static final int DATA_GROUPS = 2;

  private final ConsumerOptions options =
      new ConsumerOptions()
          .setGroup("g")
          .setMember("m")
          .setTopics(List.of("t"))
          .setOrder(ConsumerOptions.Order.NONE)
          .setParallel(100_000)
          .setHandOutMessages(10_000)
          .setPendingMessagesMax(1_000_000)
          .setPendingBytesMax(1 << 30);
  private final List<CommitPositions> batches = new ArrayList<>();
  private final List<ConsumerAction> lost = new ArrayList<>();
  private final List<DataCommand.Release> releases = new ArrayList<>();
  private final Map<Integer, List<Task>> tasks = new TreeMap<>();
  private final Map<Integer, Long> epochs = new HashMap<>();
  private ConsumerCore core;
  private long now = 1_000_000;
  private long revision;

  /** Owns so many shards, each with all messages fetched. */
  private void own(int shards) {
    core = new ConsumerCore(options, "i", HandlerKind.PLAIN, new SplittableRandom(1));
    core.shardGroups(ShardGroups.formed(DATA_GROUPS));
    core.link(true, now);
    for (int i = 0; i < shards; i++) {
      epochs.put(i, 1L);
    }
    core.heartbeatAnswered(now);
    assign(-1);
  }

  private void assign(int draining) {
    List<Assignment.Owned> owned = new ArrayList<>();
    epochs.forEach(
        (shard, epoch) ->
            owned.add(
                new Assignment.Owned(
                    "t", new Shard(1, shard), epoch, shard == draining, now + 50_000, 0)));
    core.assigned(new Assignment("g", "m", "i", 1, ++revision, owned, null), now);
    act();
  }

  private void act() {
    ConsumerAction action;
    while ((action = core.poll()) != null) {
      if (action instanceof CallAssign assign) {
        core.answered(assign, Answer.of(null), now);
      } else if (action instanceof Fetch fetch && fetch.request().offset() == 0) {
        core.answered(fetch, Answer.of(messages()), now);
      } else if (action instanceof CommitPositions commit) {
        batches.add(commit);
      } else if (action instanceof CallLost) {
        lost.add(action);
      } else if (action instanceof CallRelease release) {
        core.answered(release, Answer.of(null), now);
      } else if (action instanceof Release release) {
        releases.add(release.command());
      } else if (action instanceof Commit) {
        throw new AssertionError("a position goes out with others: " + action);
      }
    }
  }

  private static FetchAnswer messages() {
    BatchBuilder builder = new BatchBuilder(256);
    for (int i = 0; i < MESSAGES; i++) {
      builder.add(new Message(null, Map.of(), 0, new byte[1]));
    }
    FetchAnswer.Placed batch = new FetchAnswer.Placed(0, builder.build(1, 0, 0));
    return new FetchAnswer(0, MESSAGES, 0, List.of(batch));
  }

  /** Handles so many messages of a shard. */
  private void handle(int shard, int count) {
    for (int left = count; left > 0; left--) {
      List<Task> own = tasks.computeIfAbsent(shard, any -> new ArrayList<>());
      while (own.isEmpty()) {
        Task next = core.next(now);
        assertThat(next).isNotNull();
        if (next.shard() == shard) {
          own.add(next);
        } else {
          tasks.computeIfAbsent(next.shard(), any -> new ArrayList<>()).add(next);
        }
      }
      core.finished(own.remove(0), now);
    }
    act();
  }

  private void pass(long millis) {
    for (long end = now + millis; now < end; ) {
      now += ConsumerCore.TICK_MILLIS;
      core.heartbeatAnswered(now);
      core.tick(now);
      act();
    }
  }

  private static List<Position> positions(CommitPositions batch) {
    if (batch.command() instanceof DataCommand.Commit one) {
      return List.of(new Position("g", one.shard(), one.epoch(), one.offset(), -1));
    }
    return ((DataCommand.CommitMany) batch.command()).positions();
  }

  /** The offsets of a batch by shard. */
  private static Map<Integer, Long> offsets(CommitPositions batch) {
    Map<Integer, Long> offsets = new TreeMap<>();
    for (Position each : positions(batch)) {
      offsets.put(each.shard().shard(), each.offset());
    }
    return offsets;
  }

  private CommitPositions only() {
    assertThat(batches).hasSize(1);
    return batches.remove(0);
  }

  private void taken(CommitPositions batch) {
    core.answered(batch, Answer.of(new Reply.OfCommits(List.of())), now);
  }

  @Test
  void whatHasChangedInALogGroupGoesOutTogether() {
    own(6);
    handle(0, 3);
    handle(2, 1);
    handle(1, 2);
    assertThat(batches).as("before the next tick").isEmpty();
    pass(50);
    assertThat(batches).hasSize(DATA_GROUPS);
    assertThat(batches).extracting(CommitPositions::dataGroup).doesNotHaveDuplicates();
    for (CommitPositions batch : batches) {
      for (Position each : positions(batch)) {
        assertThat(each.shard().dataGroup(DATA_GROUPS)).isEqualTo(batch.dataGroup());
        assertThat(each.epoch()).isEqualTo(1);
      }
    }
    Map<Integer, Long> all = new TreeMap<>();
    batches.forEach(batch -> all.putAll(offsets(batch)));
    assertThat(all).isEqualTo(Map.of(0, 3L, 1, 2L, 2, 1L));
  }

  @Test
  void aFinishedMessageIsSentWithin200Millis() {
    own(1);
    for (int i = 1; i <= 40; i++) {
      handle(0, 1);
      long finished = now;
      while (batches.isEmpty()) {
        pass(50);
      }
      assertThat(now - finished).isLessThanOrEqualTo(200);
      CommitPositions batch = only();
      assertThat(offsets(batch)).isEqualTo(Map.of(0, (long) i));
      taken(batch);
      pass(new SplittableRandom(i).nextInt(8) * 50L);
      assertThat(batches).as("nothing is new").isEmpty();
    }
  }

  @Test
  void slowTrafficOnManyShardsCostsFewBatches() {
    own(100);
    int sent = 0;
    for (int i = 0; i < 200; i++) {
      handle(i % 100, 1);
      pass(50);
      for (CommitPositions batch : batches) {
        taken(batch);
        sent++;
      }
      batches.clear();
    }
    assertThat(sent).as("in 10 s").isLessThanOrEqualTo(DATA_GROUPS * (10_000 / 150 + 1));
  }

  @Test
  void oneBatchOfALogGroupIsUnderWayAtATime() {
    own(1);
    handle(0, 1);
    pass(50);
    CommitPositions first = only();
    handle(0, 600);
    pass(5_000);
    assertThat(batches).isEmpty();
    taken(first);
    pass(50);
    assertThat(offsets(only())).isEqualTo(Map.of(0, 601L));
  }

  @Test
  void aShardWithManyFinishedMessagesDoesNotWait() {
    own(1);
    handle(0, 1);
    pass(50);
    taken(only());
    now += 50;
    handle(0, 499);
    assertThat(batches).isEmpty();
    handle(0, 1);
    assertThat(offsets(only())).isEqualTo(Map.of(0, 501L));
  }

  @Test
  void aRefusedPositionConcernsItsShardAlone() {
    own(40);
    for (int i = 0; i < 40; i++) {
      handle(i, 1);
    }
    pass(50);
    CommitPositions batch = batches.remove(0);
    batches.clear();
    List<Integer> shards = List.copyOf(offsets(batch).keySet());
    assertThat(shards).hasSizeGreaterThan(2);
    List<Position> sent = positions(batch);
    Reply reply =
        new Reply.OfCommits(
            List.of(
                new RefusedCommit(0, Refusal.FENCED, "epoch 1"),
                new RefusedCommit(1, Refusal.UNAVAILABLE, "later")));
    assertThat(CommitPositions.refused(reply)).containsOnlyKeys(0, 1);
    core.answered(batch, Answer.of(reply), now);
    act();
    assertThat(lost).hasSize(1);
    assertThat(core.owned()).isEqualTo(39);
    pass(600);
    Map<Integer, Long> again = offsets(only());
    assertThat(again).isEqualTo(Map.of(sent.get(1).shard().shard(), 1L));
  }

  @Test
  void aBatchThatFailedIsSentAgainWithWhatIsNew() {
    own(3);
    handle(0, 1);
    handle(1, 1);
    handle(2, 1);
    pass(50);
    Map<Integer, Long> all = new TreeMap<>();
    for (CommitPositions batch : List.copyOf(batches)) {
      core.answered(batch, Answer.failed(new RefusedException(Refusal.INDETERMINATE, "lost")), now);
    }
    batches.clear();
    handle(1, 4);
    for (int i = 0; i < 12; i++) {
      pass(50);
      for (CommitPositions batch : batches) {
        all.putAll(offsets(batch));
        taken(batch);
      }
      batches.clear();
    }
    assertThat(all).isEqualTo(Map.of(0, 1L, 1, 5L, 2, 1L));
  }

  @Test
  void aReleaseDoesNotWaitForABatchAndNamesTheSameOffset() {
    own(1);
    handle(0, 1);
    pass(50);
    CommitPositions batch = only();
    handle(0, 2);
    assign(0);
    tasks.get(0).forEach(task -> core.finished(task, now));
    tasks.clear();
    pass(100);
    assertThat(releases).hasSize(1);
    long offset = releases.get(0).offset();
    assertThat(offset).isGreaterThanOrEqualTo(3);
    // The log took the release first, and refuses the position.
    core.answered(batch, Answer.failed(new RefusedException(Refusal.FENCED, "no owner")), now);
    act();
    pass(1_000);
    assertThat(batches).isEmpty();
    assertThat(lost).isEmpty();
  }

  @Test
  void nothingIsSentWithoutAConnectionOrBeforeTheLogGroupsAreKnown() {
    own(1);
    core.shardGroups(ShardGroups.formed(0));
    handle(0, 1);
    pass(1_000);
    assertThat(batches).isEmpty();
    core.shardGroups(ShardGroups.formed(1));
    pass(50);
    taken(only());
    handle(0, 1);
    core.link(false, now);
    pass(1_000);
    assertThat(batches).isEmpty();
    core.link(true, now);
    pass(50);
    assertThat(only().dataGroup()).isZero();
  }
}
