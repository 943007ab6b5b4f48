package dev.evenkeel.broker;

import static dev.evenkeel.broker.Bench.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.PrometheusText;
import dev.evenkeel.Wait;
import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.machine.Entries;
import dev.evenkeel.bus.meters.Meters;
import dev.evenkeel.log.Eligibility.Reason;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Entry;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Nodes that serve compare their states from time to time, and tell what they find. */
class ReplicaComparisonTest {
  private static PrometheusText figures(Bench bench) throws Exception {
    get(Meters.of(bench.vertx).refresh());
    return PrometheusText.parse(bench.registry.scrape());
  }

  private static Map<Reason, String> reasons(Bench bench, String node) {
    LogGroup group = bench.nodes.get(node).log().data().get(0);
    return group.elections().eligibility().reasons();
  }

  @Test
  void aNodeThatDidSomethingElseIsToldAndDoesNotLead() throws Exception {
    try (Bench bench = new Bench(1 << 20, new JsonObject(), 1, "n1", "n2", "n3")) {
      Shard shard = new Shard(bench.create("orders", 1).id(), 0);
      bench.grant("g", shard, "a", 0);
      Wait.untilAsserted(
          () -> {
            PrometheusText text = figures(bench);
            assertThat(text.value("evenkeel_replica_divergence", "log", "d0")).isZero();
            assertThat(text.value("evenkeel_replica_equal_index", "log", "d0"))
                .isGreaterThanOrEqualTo(0);
          });

      // It takes another entry for the next one.
      bench.statesDiffer();
      DataState wrong = bench.nodes.get("n3").data().get(0);
      byte[] other = Entry.of(new DataCommand.Retain(), 7);
      Entries.apply(wrong, 1, wrong.appliedIndex() + 1, ByteBuffer.wrap(other));
      bench.grant("g", shard, "b", 1);
      bench.grant("g", shard, "c", 2);
      Wait.untilAsserted(
          () -> {
            assertThat(figures(bench).value("evenkeel_replica_divergence", "log", "d0"))
                .isEqualTo(1);
            assertThat(reasons(bench, "n3")).containsOnlyKeys(Reason.DIVERGED);
          });
      assertThat(reasons(bench, "n1")).isEmpty();
      assertThat(reasons(bench, "n2")).isEmpty();
      assertThat(figures(bench).value("evenkeel_replica_divergence", "log", "meta")).isZero();
    }
  }
}
