package dev.evenkeel.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.PrometheusText;
import dev.evenkeel.bus.meters.Meters;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LevelTablesTest {
  private final Vertx vertx = Vertx.vertx();
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT).throwExceptionOnRegistrationFailure();
  private final LevelTables tables =
      new LevelTables(new Meters(vertx, registry, 9).scope("part"), 10);

  @AfterEach
  void close() throws Exception {
    vertx.close().toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private Double value(String name, String group) {
    return PrometheusText.parse(registry.scrape())
        .value("evenkeel_group_level_" + name, "group", group);
  }

  @Test
  void whatIsKnownIsShownAndNothingElse() {
    LevelFigures held = new LevelFigures(7, 412, "b", 1_500, 2, List.of());
    tables.show(List.of(new LevelTables.Row("g", 10, held), new LevelTables.Row("h", 5, null)));
    assertThat(value("range", "g")).isEqualTo(10);
    assertThat(value("gap", "g")).isEqualTo(7);
    assertThat(value("round", "g")).isEqualTo(412);
    assertThat(value("held_seconds", "g")).isEqualTo(1.5);
    assertThat(value("set_aside_total", "g")).isEqualTo(2);
    assertThat(value("range", "h")).isEqualTo(5);
    assertThat(value("gap", "h")).isNull();
    LevelFigures free = new LevelFigures(0, 413, null, 0, 3, List.of());
    tables.show(List.of(new LevelTables.Row("g", 10, free)));
    assertThat(value("held_seconds", "g")).isZero();
    assertThat(value("set_aside_total", "g")).isEqualTo(3);
    assertThat(value("range", "h")).isNull();
    tables.clear();
    assertThat(registry.scrape()).doesNotContain("level");
  }
}
