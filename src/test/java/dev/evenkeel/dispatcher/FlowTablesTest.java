package dev.evenkeel.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.PrometheusText;
import dev.evenkeel.bus.FlowTally;
import dev.evenkeel.bus.meters.Meters;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FlowTablesTest {
  private final Vertx vertx = Vertx.vertx();
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT).throwExceptionOnRegistrationFailure();
  private final FlowTables tables =
      new FlowTables(new Meters(vertx, registry, 9).scope("part"), 10);

  @AfterEach
  void close() throws Exception {
    vertx.close().toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private Double value(String name, String group) {
    return PrometheusText.parse(registry.scrape()).value("evenkeel_group_" + name, "group", group);
  }

  @Test
  void whatIsKnownIsShownAndNothingElse() {
    tables.show(
        List.of(
            new FlowTables.Row("g", new FlowTally.Rates(1, 2, 3, 4), null),
            new FlowTables.Row("h", null, 5L),
            new FlowTables.Row("i", null, null)));
    assertThat(value("rate_delayed_total", "g")).isEqualTo(1);
    assertThat(value("rate_dropped_total", "g")).isEqualTo(2);
    assertThat(value("rate_waiting", "g")).isEqualTo(3);
    assertThat(value("rate_shards_waiting", "g")).isEqualTo(4);
    assertThat(value("broadcast_lag_messages", "g")).isNull();
    assertThat(value("rate_dropped_total", "h")).isNull();
    assertThat(value("broadcast_lag_messages", "h")).isEqualTo(5);
    tables.clear();
    assertThat(registry.scrape()).doesNotContain("group_rate").doesNotContain("group_broadcast");
  }
}
