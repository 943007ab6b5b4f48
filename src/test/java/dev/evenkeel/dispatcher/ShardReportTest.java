package dev.evenkeel.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.api.GroupView;
import dev.evenkeel.bus.Figures;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.dispatcher.GroupReport.ShardReport;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The lag of a shard, and what it is computed from. */
class ShardReportTest {
  private static final Shard SHARD = new Shard(1, 0);
  private static final Lease LEASE = Commands.lease("g", SHARD, 3, "a", "i", 10, -1, null, null);

  private static ShardStatus upTo(long end) {
    return new ShardStatus(
        SHARD, 0, end, 0, 0, List.of(LEASE), List.of(), ShardStatus.Delayed.NONE);
  }

  private static GroupView.Shard view(Long position, ShardStatus status) {
    ShardReport shard =
        new ShardReport(
            "t", SHARD, LEASE, true, false, null, position, status, false, false, List.of());
    return new GroupReport(
            "g",
            null,
            false,
            "OK",
            null,
            0,
            List.of(),
            List.of(shard),
            Figures.NONE,
            null,
            List.of(),
            null)
        .view()
        .shards()
        .get(0);
  }

  private static void shows(GroupView.Shard shard, Long position, Long committed, Long lag) {
    assertThat(shard.position()).isEqualTo(position);
    assertThat(shard.committed()).isEqualTo(committed);
    assertThat(shard.lag()).isEqualTo(lag);
  }

  @Test
  void itCountsFromThePositionThatTheOwnerReports() {
    shows(view(16L, upTo(20)), 16L, 10L, 4L);
  }

  @Test
  void itCountsFromTheCommittedOffsetIfThePositionIsUnknown() {
    shows(view(null, upTo(20)), null, 10L, 10L);
  }

  @Test
  void aPositionThatIsNewerThanTheEndLeavesNothing() {
    shows(view(25L, upTo(20)), 25L, 10L, 0L);
  }

  @Test
  void itIsUnknownWithoutAnAnswerOfTheShardsLeader() {
    shows(view(16L, null), 16L, null, null);
  }
}
