package dev.evenkeel.bus.meters;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Closing;
import dev.evenkeel.PrometheusText;
import dev.evenkeel.Wait;
import dev.evenkeel.bus.LocalObjects;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

class MetersTest {
  @Closing private final Vertx vertx = Vertx.vertx();
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT).throwExceptionOnRegistrationFailure();
  private final Meters meters = new Meters(vertx, registry, 2);

  private PrometheusText text() {
    return PrometheusText.parse(registry.scrape());
  }

  @Test
  void everyKindIsShownUnderItsName() {
    MeterScope scope = meters.scope("part");
    LongAdder counter = scope.counter("evenkeel.some.bytes", "Help", "kind", "x");
    counter.add(3);
    scope.timer("evenkeel.some", "Help").record(Duration.ofMillis(3));
    scope.sizes("evenkeel.some.sizes", "Help", 1, 10).record(5);
    scope.gauge("evenkeel.some.things", "Help", () -> 7);
    PrometheusText text = text();
    assertThat(text.value("evenkeel_some_bytes_total", "kind", "x")).isEqualTo(3);
    assertThat(text.value("evenkeel_some_seconds_bucket", "le", "0.0025")).isEqualTo(0);
    assertThat(text.value("evenkeel_some_seconds_bucket", "le", "0.005")).isEqualTo(1);
    assertThat(text.value("evenkeel_some_seconds_bucket", "le", "1.0E-4")).isEqualTo(0);
    assertThat(text.value("evenkeel_some_seconds_bucket", "le", "10.0")).isEqualTo(1);
    assertThat(text.value("evenkeel_some_sizes_bucket", "le", "10.0")).isEqualTo(1);
    assertThat(text.value("evenkeel_some_things")).isEqualTo(7);
    // Nobody else refers to the counter.
    System.gc();
    assertThat(text().value("evenkeel_some_bytes_total", "kind", "x")).isEqualTo(3);
  }

  @Test
  void aClosedPartLeavesNothingAndCanComeAgain() {
    for (int i = 1; i <= 2; i++) {
      int value = i;
      MeterScope scope = meters.scope("part");
      scope.counter("evenkeel.some", "Help").add(i);
      scope.gauge("evenkeel.gauge", "Help", () -> value);
      FigureTable table = scope.table("evenkeel.table", "Help", "topic");
      table.show(new Rows(9).add(i, "t"));
      scope.reading(Future::succeededFuture);
      PrometheusText text = text();
      assertThat(text.value("evenkeel_some_total")).isEqualTo(i);
      assertThat(text.value("evenkeel_gauge")).isEqualTo(i);
      assertThat(text.value("evenkeel_table", "topic", "t")).isEqualTo(i);
      scope.close();
      assertThat(registry.getMeters()).isEmpty();
    }
  }

  @Test
  void aTableShowsWhatIsThereNow() {
    FigureTable table = meters.scope("part").table("evenkeel.table", "Help", "group", "topic");
    table.show(new Rows(9).add(1, "g", "t").add(2, "g", "t").add(5, "h", "t"));
    assertThat(text().value("evenkeel_table", "group", "g", "topic", "t")).isEqualTo(3);
    table.show(new Rows(9).add(4, "h", "t").add(Double.NaN, "g", "t").known());
    PrometheusText text = text();
    assertThat(text.value("evenkeel_table", "group", "h", "topic", "t")).isEqualTo(4);
    assertThat(text.size()).isEqualTo(1);
  }

  @Test
  void oneFigureThatFailsIsUnknownAndTheOthersAreShown() {
    MeterScope scope = meters.scope("part");
    scope.gauge(
        "evenkeel.broken",
        "Help",
        () -> {
          throw new IllegalStateException("on purpose");
        });
    scope.gauge("evenkeel.good", "Help", () -> 1);
    assertThat(text().value("evenkeel_broken")).isNaN();
    assertThat(text().value("evenkeel_good")).isEqualTo(1);
  }

  @Test
  void readingIsSharedAndNeitherFailureNorSilenceHoldsItUp() throws Exception {
    AtomicInteger reads = new AtomicInteger();
    Promise<Void> silent = Promise.promise();
    AtomicInteger asked = new AtomicInteger();
    meters
        .scope("good")
        .reading(
            () -> {
              reads.incrementAndGet();
              return Future.succeededFuture();
            });
    meters
        .scope("throwing")
        .reading(
            () -> {
              throw new IllegalStateException("on purpose");
            });
    meters.scope("failing").reading(() -> Future.failedFuture("on purpose"));
    meters
        .scope("silent")
        .reading(
            () -> {
              asked.incrementAndGet();
              return silent.future();
            });
    await(Future.all(meters.refresh(), meters.refresh()));
    // Within a second of its begin it is the same; the silent part alone took that long.
    Wait.until(
        () -> {
          await(meters.refresh());
          return reads.get() >= 2;
        });
    assertThat(asked).as("still under way: not asked again").hasValue(1);
    silent.complete();
    Wait.until(
        () -> {
          await(meters.refresh());
          return asked.get() >= 2;
        });
    assertThat(text().value("evenkeel_metrics_age_seconds", "part", "failing")).isPositive();
  }

  @Test
  void withoutARegistryNothingIsKept() {
    MeterScope scope = Meters.of(vertx).scope("part");
    scope.timer("evenkeel.some", "Help").record(Duration.ofMillis(3));
    scope.counter("evenkeel.count", "Help").increment();
    assertThat(Meters.of(vertx)).isSameAs(Meters.of(vertx));
    assertThat(registry.getMeters()).isEmpty();
  }

  @Test
  void theRegistryIsTheOneThatWasPutForIt() {
    LocalObjects.put(vertx, MeterRegistry.class, registry);
    assertThat(Meters.of(vertx).registry()).isSameAs(registry);
  }
}
