package dev.evenkeel.dispatcher.core;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.dispatcher.DispatcherOptions;
import dev.evenkeel.dispatcher.ModelLog;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What moved is known to the next dispatcher, with its figures, and is counted once. */
class MoveHistoryTest {
  private static final Shard SHARD = new Shard(1, 0);
  private final Bench bench = Bench.withShards(4);
  private final Heartbeat a = bench.beat("a");
  private final Heartbeat b = bench.beat("b");

  private MoveTally counts() {
    return bench.core.moves().takeTally();
  }

  private static long sum(MoveTally tally) {
    return tally.moves().values().stream().mapToLong(Long::longValue).sum();
  }

  private List<MoveRecord> moves() {
    return bench.core.moves().recent("g", MoveLog.MAX);
  }

  private List<MetaCommand.RecordMoves> recorded() {
    List<MetaCommand.RecordMoves> commands = new ArrayList<>();
    for (DispatcherAction action : bench.actions) {
      if (action instanceof DispatcherAction.WriteMeta write
          && write.command() instanceof MetaCommand.RecordMoves moves) {
        commands.add(moves);
      }
    }
    return commands;
  }

  private void settle() {
    bench.pass(1_000);
  }

  /** b joins and gets shards 2 and 3 of a. */
  private void handOver() {
    bench.send(a, b);
    bench.now += 300;
    bench.release(2, 3).owned("aabb");
  }

  private ShardProgress mark(int shard, long epoch, Long begun, Long fetchedAgo, Long endedAgo) {
    return new ShardProgress(
        new Shard(1, shard), epoch, begun, fetchedAgo, endedAgo, null, null, null, null);
  }

  @Test
  void theNextDispatcherHasTheSameMovesAndDoesNotCountThem() {
    handOver();
    bench.send(a.withMarks(List.of(mark(2, 1, 9L, null, 40L))));
    bench.send(b.withMarks(List.of(mark(2, 2, 0L, 10L, null))));
    MoveTally first = counts();
    assertThat(sum(first)).isEqualTo(6);
    assertThat(first.releasesMillis()).containsExactly(300L, 300L);
    assertThat(first.pausesMillis()).containsExactly(30L);
    settle();
    List<MoveRecord> before = moves();
    assertThat(before).hasSize(6);
    assertThat(before.get(1).pauseMillis()).isEqualTo(30);
    bench.clear();
    bench.activate(List.of());
    assertThat(moves()).isEqualTo(before);
    MoveTally next = counts();
    assertThat(sum(next) + next.redelivered() + next.capped() + next.unrecorded()).isZero();
    assertThat(next.pausesMillis()).isEmpty();
    assertThat(next.releasesMillis()).isEmpty();
    assertThat(recorded()).as("nothing to be written").isEmpty();
  }

  @Test
  void theNextDispatcherGoesOnFillingFigures() {
    handOver();
    settle();
    assertThat(moves().get(0).pauseMillis()).isNull();
    bench.activate(List.of());
    bench.send(a.withMarks(List.of(mark(3, 1, 4L, null, 700L))));
    bench.send(b.withMarks(List.of(mark(3, 2, 0L, 600L, null))));
    assertThat(moves().get(0).pauseMillis()).isEqualTo(100);
    assertThat(counts().pausesMillis()).containsExactly(100L);
    settle();
    assertThat(bench.log.moves.get(new MoveRecord.Key("g", new Shard(1, 3), 2)).pauseMillis())
        .isEqualTo(100);
    bench.activate(List.of());
    assertThat(moves().get(0).pauseMillis()).isEqualTo(100);
    assertThat(moves().get(0).releaseMillis()).isEqualTo(300);
  }

  @Test
  void aMoveThatWasNotRecordedInTimeIsFoundByTheNextOne() {
    bench.send(a);
    settle();
    List<MoveRecord> before = moves();
    // Another dispatcher granted it and died.
    bench.log.apply(
        Commands.grant("g", SHARD, "b", "b1", bench.lease(0).epoch(), StartAt.EARLIEST));
    bench.now += 100;
    bench.activate(List.of());
    assertThat(moves()).hasSize(5);
    assertThat(moves().subList(1, 5)).isEqualTo(before);
    MoveRecord found = moves().get(0);
    assertThat(found.from()).isEqualTo("a");
    assertThat(found.to()).isEqualTo("b");
    assertThat(found.epoch()).isEqualTo(2);
    assertThat(found.reason()).isNull();
    assertThat(found.timeMillis()).isEqualTo(bench.now);
    assertThat(found.redelivered()).isNull();
    MoveTally counts = counts();
    assertThat(sum(counts)).isEqualTo(1);
    assertThat(counts.moves().get(null)).isEqualTo(1);
    settle();
    bench.activate(List.of());
    assertThat(moves()).as("found once").hasSize(5);
    assertThat(sum(counts())).isZero();
  }

  @Test
  void whoLetGoWhileThereWasNoDispatcherIsKnownByTheHistory() {
    bench.send(a);
    settle();
    long epoch = bench.lease(0).epoch();
    bench.log.apply(new DataCommand.Release("g", SHARD, epoch, 0, -1, null));
    bench.now += 100;
    bench.activate(List.of());
    bench.send(a);
    settle();
    MoveRecord move = moves().get(0);
    assertThat(move.shard()).isEqualTo(SHARD);
    assertThat(move.epoch()).isEqualTo(epoch + 1);
    assertThat(move.from()).isEqualTo("a");
    assertThat(move.releaseMillis()).isNull();
  }

  @Test
  void leasesFromBeforeThereWasAHistoryAreNoMoves() {
    handOver();
    settle();
    bench.log.moves.clear();
    bench.activate(List.of());
    settle();
    assertThat(moves()).isEmpty();
    assertThat(bench.log.moves).isEmpty();
  }

  @Test
  void aGrantWhoseAnswerWasLostIsListedWithItsCause() {
    ModelLog log = new ModelLog().topic(1, "t", 1);
    DispatcherCore core = Bench.core(TestSettings.atOnce(), 1, java.util.Set.of());
    Bench lossy = new Bench(log);
    lossy.core = core;
    lossy.run(core.recover(log.topics, log.groups(), log.statuses(null), List.of(), lossy.now));
    lossy.loseAnswers = true;
    lossy.send(lossy.beat("a"));
    lossy.loseAnswers = false;
    assertThat(lossy.lease(0).owner()).isEqualTo("a");
    lossy.pass(1_000, lossy.beat("a"));
    List<MoveRecord> moves = core.moves().recent("g", 9);
    assertThat(moves).hasSize(1);
    assertThat(moves.get(0).reason()).isEqualTo(Cause.JOIN.word());
    assertThat(moves.get(0).to()).isEqualTo("a");
    assertThat(moves.get(0).epoch()).isEqualTo(1);
  }

  @Test
  void writesAreFewAndOneAtATime() {
    handOver();
    bench.clear();
    for (int i = 0; i < 40; i++) {
      bench.now += 25;
      bench.send(b.withMarks(List.of(mark(2, 2, (long) i, null, null))));
      bench.send(a.withMarks(List.of(mark(2, 1, (long) i, null, null))));
    }
    assertThat(recorded()).hasSizeBetween(1, 5);
    settle();
    assertThat(bench.log.moves.get(new MoveRecord.Key("g", new Shard(1, 2), 2)).redelivered())
        .isEqualTo(39 - bench.lease(2).committed());
  }

  @Test
  void aWriteThatFailsIsRepeatedAndOneThatIsRefusedForGoodIsNot() {
    bench.send(a);
    settle();
    bench.send(b);
    bench.refuseMoves = Refusal.INDETERMINATE;
    bench.clear();
    bench.release(2).pass(3_000, a, b);
    assertThat(bench.log.moves).hasSize(4);
    assertThat(recorded().size()).isLessThan(9);
    bench.refuseMoves = null;
    settle();
    assertThat(bench.log.moves).hasSize(5);
    assertThat(counts().unrecorded()).isZero();
    bench.refuseMoves = Refusal.INVALID;
    bench.release(3);
    settle();
    bench.refuseMoves = null;
    bench.clear();
    settle();
    assertThat(recorded()).isEmpty();
    assertThat(counts().unrecorded()).isEqualTo(1);
  }

  @Test
  void aCapIsCountedAndKept() {
    bench.send(a, b).pass(51_000, a, b).owned("aabb");
    assertThat(counts().capped()).isEqualTo(2);
    settle();
    bench.activate(List.of());
    assertThat(moves().get(0).capped()).isTrue();
    assertThat(moves().get(0).reason()).isEqualTo(Cause.CAP.word());
    assertThat(moves().get(3).capped()).isFalse();
  }

  @Test
  void aForgottenGroupHasNoMovesAndBeginsAnew() {
    bench.send(a);
    settle();
    bench.pass(6_000);
    bench.log.activeMillis += DispatcherOptions.DEFAULTS.groupForgetMillis();
    bench.pass(70_000);
    assertThat(bench.log.groups).isEmpty();
    assertThat(moves()).isEmpty();
    assertThat(bench.log.moves).isEmpty();
    bench.send(bench.beat("a", "a2", 200));
    settle();
    assertThat(moves()).hasSize(4);
    assertThat(bench.log.moves).hasSize(4);
  }

  @Test
  void theLogOfMovesIsBoundedAndFair() {
    MoveLog log = new MoveLog();
    times(200, i -> log.add(move("small", i, 1)));
    times(10_000, i -> log.add(move("busy", i, 1)));
    assertThat(log.recent(null, Integer.MAX_VALUE)).hasSize(Limits.MOVES_KEPT_MAX);
    assertThat(log.recent("small", 500)).hasSize(200);
    assertThat(log.recent("busy", 1).get(0).shard().shard()).isEqualTo(9_999);
    assertThat(log.recentOfEach(100).stream().filter(m -> m.group().equals("small"))).hasSize(50);
    assertThat(log.last("busy", new Shard(1, 0))).isNull();
    MoveTally counts = log.takeTally();
    assertThat(sum(counts)).isEqualTo(10_200);
    assertThat(counts.unrecorded()).as("given up before anybody wrote them").isGreaterThan(7_000);
    int taken = 0;
    while (log.unwritten() > 0) {
      taken += log.takeUnwritten(Limits.MOVES_A_COMMAND_MAX).size();
    }
    assertThat(taken + counts.unrecorded()).isEqualTo(10_200);
  }

  private static MoveRecord move(String group, int shard, long epoch) {
    return new MoveRecord(
        1,
        group,
        "t",
        new Shard(1, shard),
        null,
        "m",
        Cause.JOIN.word(),
        null,
        null,
        0L,
        false,
        epoch,
        0L);
  }
}
