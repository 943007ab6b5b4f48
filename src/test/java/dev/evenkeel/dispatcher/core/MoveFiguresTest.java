package dev.evenkeel.dispatcher.core;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Shard;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Figures of moves: known when they are, whatever comes first, and null until then. */
class MoveFiguresTest {
  private static final Shard SHARD = new Shard(1, 0);
  private final Bench bench = Bench.withShards(1);
  private final Heartbeat a = bench.beat("a");
  private final Heartbeat b = bench.beat("b");

  private void tell(Heartbeat beat, long epoch, Long begun, Long fetchedAgo, Long endedAgo) {
    bench.send(
        beat.withMarks(
            List.of(
                new ShardProgress(
                    SHARD, epoch, begun, fetchedAgo, endedAgo, null, null, null, null))));
  }

  private MoveRecord last() {
    return bench.core.moves().recent("g", 1).get(0);
  }

  /** a closes and b, which is there, takes over. */
  private void handOver() {
    bench.send(a, b).owned("a");
    bench.send(a.asClosing());
    bench.now += 200;
    bench.release(0).owned("b");
  }

  @Test
  void theFirstOwnerOfAShardHasNoPauseAndGetsNothingTwice() {
    bench.send(a);
    tell(a, 1, 5L, 10L, null);
    assertThat(last().pauseMillis()).isNull();
    assertThat(last().redelivered()).isZero();
  }

  @Test
  void aPauseIsFromTheEndAtTheOldOwnerToTheFetchOfTheNew() {
    handOver();
    assertThat(last().releaseMillis()).isEqualTo(200);
    assertThat(last().redelivered()).as("a graceful release").isZero();
    assertThat(last().pauseMillis()).isNull();
    long revision = bench.core.moves().revision();
    bench.now += 100;
    tell(a.asClosing(), 1, 0L, null, 150L);
    assertThat(last().pauseMillis()).isNull();
    bench.now += 50;
    tell(b, 2, 0L, 30L, null);
    assertThat(last().pauseMillis()).isEqualTo(150 + 50 - 30);
    assertThat(bench.core.moves().revision()).isGreaterThan(revision);
    bench.now += 1_000;
    tell(b, 2, 9L, 1_030L, null);
    assertThat(last().pauseMillis()).as("told again").isEqualTo(170);
    assertThat(last().redelivered()).isZero();
  }

  @Test
  void theNewOwnerMayBeHeardFirst() {
    handOver();
    tell(b, 2, null, 0L, null);
    bench.now += 500;
    tell(a.asClosing(), 1, null, null, 520L);
    assertThat(last().pauseMillis()).isEqualTo(20);
  }

  @Test
  void anOverlapIsNoPause() {
    handOver();
    bench.now += 100;
    tell(b, 2, null, 100L, null);
    tell(a.asClosing(), 1, null, null, 10L);
    assertThat(last().pauseMillis()).isZero();
  }

  @Test
  void ofOneThatDiedTheLastHeartbeatCountsAndWhatItHadBegunComesAgain() {
    bench.send(a);
    tell(a, 1, 42L, 0L, null);
    bench.send(b);
    times(6, i -> bench.pass(1_000, b));
    bench.owned("b");
    assertThat(last().reason()).isEqualTo(Cause.TIMEOUT.word());
    assertThat(last().redelivered()).isEqualTo(42 - bench.lease(0).committed());
    assertThat(last().pauseMillis()).isNull();
    long grantedMillis = last().timeMillis();
    long sinceGrant = bench.now - grantedMillis;
    tell(b, 2, 0L, 0L, null);
    // It was heard last at the beginning.
    assertThat(last().pauseMillis()).isEqualTo(grantedMillis + sinceGrant - 1_000_000);
  }

  /** The next owner begins where the state stands, however far the progress is ahead of it. */
  @Test
  void ofOneThatDiedEverythingAfterItsStateComesAgain() {
    bench.send(a);
    Lease held = bench.lease(0);
    bench.log.apply(new DataCommand.Commit("g", held.shard(), held.epoch(), 7, 7, new byte[] {1}));
    bench.log.apply(new DataCommand.Commit("g", held.shard(), held.epoch(), 40, -1, null));
    tell(a, 1, 42L, 0L, null);
    bench.send(b);
    times(6, i -> bench.pass(1_000, b));
    bench.owned("b");
    assertThat(last().redelivered()).isEqualTo(42 - 7);
  }

  @Test
  void ofOneThatDiedWithoutAReportNothingIsMadeUp() {
    bench.send(a, b).pass(6_000, b).owned("b");
    assertThat(last().redelivered()).isNull();
  }

  @Test
  void anEpochThatWasNeverGrantedIsNotBelieved() {
    bench.send(a);
    tell(a, 1, 42L, 0L, null);
    for (long epoch = 2; epoch < 9; epoch++) {
      tell(a, epoch, 1_000L, 0L, 0L);
    }
    bench.send(b);
    bench.pass(6_000, b);
    assertThat(last().redelivered()).isEqualTo(42);
  }
}
