package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.FailureSum;
import dev.evenkeel.bus.meters.FigureTable;
import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.bus.meters.Rows;
import dev.evenkeel.dispatcher.core.GroupState;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Figures of messages that failed, by group; what is not known is not shown. Many groups under one
 * label are summed.
 */
final class FailureTables {
  /**
   * What is shown of a group.
   *
   * @param sum null: unknown
   * @param breakersOpen members of which most messages fail
   */
  record Row(String label, FailureSum sum, long breakersOpen) {
    static Row of(String label, GroupState group, FailureSum sum) {
      long open =
          group.members().live().stream().filter(member -> member.beat().breakerOpen()).count();
      return new Row(label, sum, open);
    }
  }

  private final int rowsMax;
  private final Map<FigureTable, ToLongFunction<FailureSum>> figures = new LinkedHashMap<>();
  private final FigureTable breakers;

  /**
   * @param rowsMax groups that are told apart, at most
   */
  FailureTables(MeterScope scope, int rowsMax) {
    this.rowsMax = rowsMax;
    figure(
        scope,
        "evenkeel.group.retries.waiting",
        "Messages that wait for another attempt",
        FailureSum::retriesWaiting);
    figure(
        scope,
        "evenkeel.group.retries.parked",
        "Messages that wait behind another of their key",
        FailureSum::parked);
    figure(
        scope,
        "evenkeel.group.shards.retrying",
        "Shards that wait for a retry, or for room to park",
        FailureSum::shardsWaiting);
    figure(
        scope,
        "evenkeel.group.dead.letters",
        "Messages of which every attempt failed",
        FailureSum::deadLetters);
    breakers =
        scope.table(
            "evenkeel.group.breakers.open",
            "Members that pause, for most of their messages fail",
            "group");
  }

  private void figure(
      MeterScope scope, String name, String help, ToLongFunction<FailureSum> figure) {
    figures.put(scope.table(name, help, "group"), figure);
  }

  void show(List<Row> groups) {
    figures.forEach(
        (table, figure) -> {
          Rows rows = new Rows(rowsMax);
          for (Row row : groups) {
            // NaN stays NaN whatever is added to it.
            rows.add(row.sum() == null ? Double.NaN : figure.applyAsLong(row.sum()), row.label());
          }
          table.show(rows.known());
        });
    Rows open = new Rows(rowsMax);
    groups.forEach(row -> open.add(row.breakersOpen(), row.label()));
    breakers.show(open);
  }

  /** Another node knows them now. */
  void clear() {
    show(List.of());
  }
}
