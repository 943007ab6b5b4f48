package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.protocol.Shard;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How far owners are, as they report it with their heartbeats. */
class PositionTest {
  private static final Shard SHARD = new Shard(1, 0);
  private final Bench bench = Bench.withShards(1);
  private final Heartbeat a = bench.beat("a");
  private final Heartbeat b = bench.beat("b");

  private void tell(Heartbeat beat, long epoch, Long position) {
    bench.send(
        beat.withMarks(
            List.of(
                new ShardProgress(SHARD, epoch, null, null, null, null, position, null, null))));
  }

  private Long position() {
    return bench.core.find("g").position(SHARD);
  }

  @Test
  void itIsUnknownUntilTheOwnerReportsIt() {
    bench.after(a).owned("a");
    assertThat(position()).isNull();
    tell(a, 1, null);
    assertThat(position()).isNull();
    tell(a, 1, 7L);
    assertThat(position()).isEqualTo(7);
  }

  @Test
  void aHeartbeatThatWasOvertakenDoesNotTakeItBack() {
    bench.send(a);
    tell(a, 1, 9L);
    tell(a, 1, 7L);
    assertThat(position()).isEqualTo(9);
  }

  @Test
  void aLaterCommitIsNewerThanTheLastHeartbeat() {
    bench.send(a);
    tell(a, 1, 4L);
    bench.log.leases.get("g").put(SHARD, bench.lease(0).committedAt(6));
    bench.run(List.of(bench.core.look("g")));
    assertThat(position()).isEqualTo(6);
    tell(a, 1, 8L);
    assertThat(position()).isEqualTo(8);
  }

  @Test
  void whatAFormerOwnerHasReportedDoesNotCount() {
    bench.send(a, b);
    tell(a, 1, 9L);
    bench.send(a.asClosing());
    bench.release(0).owned("b");
    assertThat(position()).isNull();
    tell(a.asClosing(), 1, 11L);
    assertThat(position()).as("from one who was fenced").isNull();
    tell(b, 2, 5L);
    assertThat(position()).isEqualTo(5);
  }
}
