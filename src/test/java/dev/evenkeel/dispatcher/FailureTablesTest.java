package dev.evenkeel.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.PrometheusText;
import dev.evenkeel.bus.FailureFigures;
import dev.evenkeel.bus.FailureSum;
import dev.evenkeel.bus.meters.Meters;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Shard;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FailureTablesTest {
  private final Vertx vertx = Vertx.vertx();
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT).throwExceptionOnRegistrationFailure();
  private final FailureTables tables =
      new FailureTables(new Meters(vertx, registry, 9).scope("part"), 10);

  @AfterEach
  void close() throws Exception {
    vertx.close().toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private Double value(String name, String group) {
    return PrometheusText.parse(registry.scrape()).value("evenkeel_group_" + name, "group", group);
  }

  private static FailureFigures figures(int shard, int waiting, int parked, int held, int dead) {
    return new FailureFigures("g", new Shard(1, shard), waiting, parked, held, dead, 0);
  }

  @Test
  void whatIsKnownIsShownAndNothingElse() {
    FailureSum sum = new FailureSum(1, 2, 3, 4);
    tables.show(List.of(new FailureTables.Row("g", sum, 5), new FailureTables.Row("h", null, 0)));
    assertThat(value("retries_waiting", "g")).isEqualTo(1);
    assertThat(value("retries_parked", "g")).isEqualTo(2);
    assertThat(value("shards_retrying", "g")).isEqualTo(3);
    assertThat(value("dead_letters", "g")).isEqualTo(4);
    assertThat(value("breakers_open", "g")).isEqualTo(5);
    assertThat(value("dead_letters", "h")).isNull();
    assertThat(value("breakers_open", "h")).isZero();
    tables.clear();
    assertThat(registry.scrape()).doesNotContain("dead_letters").doesNotContain("breakers");
  }

  @Test
  void shardsAreSummed() {
    assertThat(FailureSum.of(List.of())).isEqualTo(new FailureSum(0, 0, 0, 0));
    assertThat(FailureSum.of(List.of(figures(0, 1, 2, 0, 4), figures(1, 10, 20, 30, 40))))
        .as("what is held holds up its shard")
        .isEqualTo(new FailureSum(41, 22, 1, 44));
    assertThat(FailureSum.of(List.of(figures(0, 1, Limits.RETRIES_MAX - 1, 0, 0))))
        .as("there is no room to park")
        .isEqualTo(new FailureSum(1, Limits.RETRIES_MAX - 1, 1, 0));
  }
}
