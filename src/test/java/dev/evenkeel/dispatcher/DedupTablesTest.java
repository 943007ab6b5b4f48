package dev.evenkeel.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.PrometheusText;
import dev.evenkeel.bus.DedupTally;
import dev.evenkeel.bus.meters.Meters;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DedupTablesTest {
  private final Vertx vertx = Vertx.vertx();
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT).throwExceptionOnRegistrationFailure();
  private final DedupTables tables =
      new DedupTables(new Meters(vertx, registry, 9).scope("part"), 10);

  @AfterEach
  void close() throws Exception {
    vertx.close().toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private Double value(String name, String group) {
    return PrometheusText.parse(registry.scrape()).value("evenkeel_group_" + name, "group", group);
  }

  @Test
  void whatIsKnownIsShownAndNothingElse() {
    DedupFigures known =
        new DedupFigures(
            new DedupTally.Counts(1, 2, 3, 4, 5, 6, 7, 8),
            new DedupTally.Repeats("high", 3, 0.25, 99),
            List.of());
    DedupFigures off =
        new DedupFigures(null, new DedupTally.Repeats("none", 0, null, 9), List.of());
    tables.show(List.of(new DedupTables.Row("g", known), new DedupTables.Row("h", off)));
    List<String> counters =
        List.of("accepted", "blocked", "declined", "evicted", "lost", "unguarded");
    for (int i = 0; i < counters.size(); i++) {
      assertThat(value("dedup_" + counters.get(i) + "_total", "g")).isEqualTo(i + 1);
      assertThat(value("dedup_" + counters.get(i) + "_total", "h")).isNull();
    }
    assertThat(value("dedup_processing", "g")).isEqualTo(7);
    assertThat(value("dedup_waiting", "g")).isEqualTo(8);
    assertThat(value("repetition_share", "g")).isEqualTo(0.25);
    assertThat(value("repetition_share", "h")).isNull();
    tables.clear();
    assertThat(registry.scrape()).doesNotContain("dedup").doesNotContain("repetition");
  }
}
