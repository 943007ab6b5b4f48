package dev.evenkeel.broker.quota;

import static dev.evenkeel.Loops.times;
import static dev.evenkeel.broker.quota.VirtualPort.MILLI;
import static dev.evenkeel.broker.quota.VirtualPort.SECOND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.evenkeel.bus.meters.Meters;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Shard;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class GroupDebtsTest {
  private final VirtualPort.World world = new VirtualPort.World();

  /** A node whose shards always have messages, each of 100 bytes, and always a fetch. */
  private final class Node {
    final Map<Shard, Long> delivered = new HashMap<>();
    final GroupDebts debts;

    Node(int shards) {
      var meters = new QuotaMeters(new Meters(null, new SimpleMeterRegistry(), 10).scope("test"));
      debts = new GroupDebts(new VirtualPort(world), meters, this::look);
      times(shards, i -> look(new Shard(1, i)));
    }

    void look(Shard shard) {
      if (debts.holds("g", shard)) {
        return;
      }
      int messages = Math.max(1, debts.messagesMax("g", debts.bytesMax("g", 1 << 20) / 100));
      delivered.merge(shard, (long) messages, Long::sum);
      if (debts.counts("g")) {
        debts.delivered("g", 100L * messages, messages);
      }
      world.after(MILLI, () -> look(shard));
    }

    long sum() {
      return delivered.values().stream().mapToLong(Long::longValue).sum();
    }
  }

  @Test
  void nodesTogetherKeepToTheQuotaAndShardsTakeTurns() {
    world.set(Quota.perSecond(QuotaKind.GROUP, "g", 1_000_000, 0));
    Node a = new Node(5);
    Node b = new Node(2);
    world.runUntil(30 * SECOND);
    assertThat((a.sum() + b.sum()) / 30.0).isCloseTo(10_000, within(400.0));
    LongStream each = a.delivered.values().stream().mapToLong(Long::longValue);
    assertThat(each.min().orElseThrow()).isGreaterThan(a.sum() / 5 / 2);
  }

  @Test
  void aChangeCountsWithinASecond() {
    world.set(Quota.perSecond(QuotaKind.GROUP, "g", 0, 1));
    Node node = new Node(2);
    node.debts.delivered("g", 0, 1_000);
    world.runUntil(10 * SECOND);
    assertThat(node.sum()).isLessThan(5);
    world.set(Quota.none(QuotaKind.GROUP, "g"));
    world.runUntil(11 * SECOND);
    assertThat(node.sum()).isGreaterThan(10_000);
    assertThat(node.debts.counts("g")).isFalse();
  }
}
