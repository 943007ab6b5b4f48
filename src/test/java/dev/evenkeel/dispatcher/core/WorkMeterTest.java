package dev.evenkeel.dispatcher.core;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.assign.LoadAssignor;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.dispatcher.ModelLog;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/** Work is measured from what owners report, and shards move by it. */
class WorkMeterTest {
  @Test
  void ratesFollowWhatIsReported() {
    WorkMeter meter = new WorkMeter();
    for (long now = 0; now <= 9_000; now += 1_000) {
      meter.heard(1, now / 2, 10 * now, now);
      assertThat(meter.work()).isNull();
    }
    meter.heard(1, 5_000, 100_000, 10_000);
    assertThat(meter.work().busy()).isEqualTo(0.5, Offset.offset(1e-9));
    assertThat(meter.work().bytesPerSecond()).isEqualTo(10_000, Offset.offset(1e-6));
    // Another owner begins at 0; what a former one says late does not count.
    meter.heard(2, 0, 0, 11_000);
    meter.heard(1, 50_000, 1_000_000, 12_000);
    assertThat(meter.work().busy()).isEqualTo(0.5, Offset.offset(1e-9));
    for (long now = 12_000; now <= 400_000; now += 1_000) {
      meter.heard(2, 2 * (now - 11_000), 0, now);
    }
    assertThat(meter.work().busy()).isEqualTo(2, Offset.offset(0.01));
    assertThat(meter.work().bytesPerSecond()).isEqualTo(0, Offset.offset(50.0));
  }

  @Test
  void aShardMovesWhenItsWorkGrowsAndNotBefore() {
    Bench bench = new Bench(new ModelLog().topic(1, "t", 4));
    bench.assignors.put(LoadAssignor.NAME, new LoadAssignor());
    bench.activate(List.of());
    Heartbeat a = wishing(bench.beat("a"));
    Heartbeat b = wishing(bench.beat("b"));
    bench.send(a, b);
    for (int shard = 0; shard < 4; shard++) {
      if (bench.lease(shard).drain() != null) {
        bench.release(shard);
      }
    }
    String owners = bench.owners();
    assertThat(owners.chars().filter(each -> each == 'a').count()).isEqualTo(2);
    long[] busy = new long[4];
    work(bench, List.of(a, b), busy, 30, 100, 100, 100, 100);
    assertThat(bench.owners()).isEqualTo(owners);
    int first = owners.indexOf('a');
    long[] heavier = {100, 100, 100, 100};
    heavier[first] = 900;
    work(bench, List.of(a, b), busy, 120, heavier);
    // The other shard of a has gone to b.
    assertThat(bench.owners().chars().filter(each -> each == 'a').count()).isEqualTo(1);
    assertThat(bench.owners().charAt(first)).isEqualTo('a');
    bench.by(Cause.LOAD);
  }

  private static Heartbeat wishing(Heartbeat beat) {
    return beat.withWishes(
        new Heartbeat.Wishes(LoadAssignor.NAME, null, 0, null, null, null, null));
  }

  private static void work(
      Bench bench, List<Heartbeat> members, long[] busy, int seconds, long... busyMillis) {
    for (int second = 0; second < seconds; second++) {
      times(4, shard -> busy[shard] += busyMillis[shard]);
      for (Heartbeat member : members) {
        List<ShardProgress> marks = new ArrayList<>();
        for (int shard = 0; shard < 4; shard++) {
          if (member.member().equals(bench.lease(shard).owner())) {
            long epoch = bench.lease(shard).epoch();
            marks.add(
                new ShardProgress(
                    new Shard(1, shard), epoch, 1L, null, null, null, 1L, busy[shard], 0L));
          }
        }
        bench.send(member.withMarks(marks));
      }
      bench.pass(1_000);
      for (int shard = 0; shard < 4; shard++) {
        if (bench.lease(shard).drain() != null) {
          bench.release(shard);
        }
      }
    }
  }
}
