package dev.evenkeel.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.PrometheusText;
import dev.evenkeel.bus.FailureFigures;
import dev.evenkeel.bus.Figures;
import dev.evenkeel.bus.GroupFigure;
import dev.evenkeel.bus.GroupFigure.Section;
import dev.evenkeel.bus.meters.Meters;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Shard;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class GroupMetricsTest {
  @Closing private final Vertx vertx = Vertx.vertx();
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT).throwExceptionOnRegistrationFailure();
  private final GroupMetrics metrics = new GroupMetrics(new Meters(vertx, registry, 3).scope("p"));

  private Double value(String name, String group) {
    return PrometheusText.parse(registry.scrape()).value("evenkeel_group_" + name, "group", group);
  }

  private static GroupReport report(String group, Figures figures) {
    return new GroupReport(
        group, null, false, "OK", null, 0, List.of(), List.of(), figures, null, List.of(), null);
  }

  private void show(Figures... figures) {
    List<GroupReport> reports = new ArrayList<>();
    for (Figures each : figures) {
      reports.add(report(String.valueOf((char) ('g' + reports.size())), each));
    }
    metrics.show(reports);
  }

  private static Figures only(GroupFigure figure, Number value) {
    return new Figures(Map.of(figure, value));
  }

  @Test
  void dedupThatIsKnownIsShownAndNothingElse() {
    show(
        Figures.of(Section.DEDUP, 1, 2, 3, 4, 5, 6, 7, 8)
            .plus(only(GroupFigure.REPETITION_SHARE, 0.25)),
        Figures.NONE);
    var counters = List.of("accepted", "blocked", "declined", "evicted", "lost", "unguarded");
    for (int i = 0; i < counters.size(); i++) {
      assertThat(value("dedup_" + counters.get(i) + "_total", "g")).isEqualTo(i + 1);
      assertThat(value("dedup_" + counters.get(i) + "_total", "h")).isNull();
    }
    assertThat(value("dedup_processing", "g")).isEqualTo(7);
    assertThat(value("dedup_waiting", "g")).isEqualTo(8);
    assertThat(value("repetition_share", "g")).isEqualTo(0.25);
    assertThat(value("repetition_share", "h")).isNull();
    metrics.clear();
    assertThat(registry.scrape()).doesNotContain("evenkeel_group");
  }

  @Test
  void failuresThatAreKnownAreShownAndNothingElse() {
    show(
        Figures.of(Section.FAILURES, 1, 2, 3, 4).plus(only(GroupFigure.BREAKERS_OPEN, 5)),
        only(GroupFigure.BREAKERS_OPEN, 0));
    assertThat(value("retries_waiting", "g")).isEqualTo(1);
    assertThat(value("retries_parked", "g")).isEqualTo(2);
    assertThat(value("shards_retrying", "g")).isEqualTo(3);
    assertThat(value("dead_letters", "g")).isEqualTo(4);
    assertThat(value("breakers_open", "g")).isEqualTo(5);
    assertThat(value("dead_letters", "h")).isNull();
    assertThat(value("breakers_open", "h")).isZero();
    metrics.clear();
    assertThat(registry.scrape()).doesNotContain("evenkeel_group");
  }

  @Test
  void ratesThatAreKnownAreShownAndNothingElse() {
    show(Figures.of(Section.RATES, 1, 2, 3, 4), only(GroupFigure.BROADCAST_LAG, 5), Figures.NONE);
    assertThat(value("rate_delayed_total", "g")).isEqualTo(1);
    assertThat(value("rate_dropped_total", "g")).isEqualTo(2);
    assertThat(value("rate_waiting", "g")).isEqualTo(3);
    assertThat(value("rate_shards_waiting", "g")).isEqualTo(4);
    assertThat(value("broadcast_lag_messages", "g")).isNull();
    assertThat(value("rate_dropped_total", "h")).isNull();
    assertThat(value("broadcast_lag_messages", "h")).isEqualTo(5);
  }

  @Test
  void howLevelAGroupIsGoesWhenItIsUnknown() {
    show(
        only(GroupFigure.LEVEL_RANGE, 10)
            .plus(only(GroupFigure.LEVEL_GAP, 7))
            .plus(only(GroupFigure.LEVEL_ROUND, 412))
            .plus(only(GroupFigure.LEVEL_HELD_SECONDS, 1.5))
            .plus(only(GroupFigure.LEVEL_SET_ASIDE, 2)),
        only(GroupFigure.LEVEL_RANGE, 5));
    assertThat(value("level_range", "g")).isEqualTo(10);
    assertThat(value("level_gap", "g")).isEqualTo(7);
    assertThat(value("level_round", "g")).isEqualTo(412);
    assertThat(value("level_held_seconds", "g")).isEqualTo(1.5);
    assertThat(value("level_set_aside_total", "g")).isEqualTo(2);
    assertThat(value("level_range", "h")).isEqualTo(5);
    assertThat(value("level_gap", "h")).isNull();
    show(only(GroupFigure.LEVEL_SET_ASIDE, 3));
    assertThat(value("level_set_aside_total", "g")).isEqualTo(3);
    assertThat(value("level_gap", "g")).isNull();
    assertThat(value("level_range", "h")).isNull();
  }

  /** Past the limit groups are summed: of dedup those that are known, of failures all or none. */
  @Test
  void ofManyGroupsSomeAreSummed() {
    var both = Figures.of(Section.FAILURES, 1, 2, 3, 4).plus(Figures.of(Section.RATES, 1, 2, 3, 4));
    show(both, both, both, both, both);
    assertThat(value("dead_letters", "other")).isEqualTo(8);
    assertThat(value("rate_dropped_total", "other")).isEqualTo(4);
    show(both, both, both, both, Figures.NONE);
    assertThat(value("dead_letters", "other")).isNull();
    assertThat(value("rate_dropped_total", "other")).isEqualTo(2);
  }

  private static FailureFigures figures(int shard, int waiting, int parked, int held, int dead) {
    return new FailureFigures("g", new Shard(1, shard), waiting, parked, held, dead, 0);
  }

  @Test
  void failuresOfShardsAreSummed() {
    assertThat(GroupReports.failures(List.of()))
        .isEqualTo(Figures.of(Section.FAILURES, 0, 0, 0, 0));
    assertThat(GroupReports.failures(List.of(figures(0, 1, 2, 0, 4), figures(1, 10, 20, 30, 40))))
        .as("what is held holds up its shard")
        .isEqualTo(Figures.of(Section.FAILURES, 41, 22, 1, 44));
    assertThat(GroupReports.failures(List.of(figures(0, 1, Limits.RETRIES_MAX - 1, 0, 0))))
        .as("there is no room to park")
        .isEqualTo(Figures.of(Section.FAILURES, 1, Limits.RETRIES_MAX - 1, 1, 0));
  }
}
