package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.FlowTally;
import dev.evenkeel.bus.meters.FigureTable;
import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.bus.meters.Rows;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Figures of rates and of mode broadcast by group; what is not known is not shown. Many groups
 * under one label are summed.
 */
final class FlowTables {
  /**
   * What is shown of a group.
   *
   * @param rates null: its members have none
   * @param broadcastLag the largest of a member; null: unknown, or another mode
   */
  record Row(String label, FlowTally.Rates rates, Long broadcastLag) {}

  private final int rowsMax;
  private final Map<FigureTable, ToLongFunction<FlowTally.Rates>> rates = new LinkedHashMap<>();
  private final FigureTable lag;

  /**
   * @param rowsMax groups that are told apart, at most
   */
  FlowTables(MeterScope scope, int rowsMax) {
    this.rowsMax = rowsMax;
    rates.put(
        scope.counterTable(
            "evenkeel.group.rate.delayed",
            "Messages that waited for a token of their key",
            "group"),
        FlowTally.Rates::delayed);
    rates.put(
        scope.counterTable(
            "evenkeel.group.rate.dropped", "Messages over the rate of their key, dropped", "group"),
        FlowTally.Rates::dropped);
    rates.put(
        scope.table("evenkeel.group.rate.waiting", "Messages that wait for their rate", "group"),
        FlowTally.Rates::waiting);
    rates.put(
        scope.table(
            "evenkeel.group.rate.shards.waiting",
            "Shards of which no more messages may wait for their rate",
            "group"),
        FlowTally.Rates::shardsWaiting);
    lag =
        scope.table(
            "evenkeel.group.broadcast.lag.messages",
            "Messages that the last member in mode broadcast has not consumed",
            "group");
  }

  void show(List<Row> groups) {
    rates.forEach(
        (table, figure) -> {
          Rows rows = new Rows(rowsMax);
          for (Row row : groups) {
            if (row.rates() != null) {
              rows.add(figure.applyAsLong(row.rates()), row.label());
            }
          }
          table.show(rows);
        });
    Rows lags = new Rows(rowsMax);
    for (Row row : groups) {
      if (row.broadcastLag() != null) {
        lags.add(row.broadcastLag(), row.label());
      }
    }
    lag.show(lags);
  }

  /** Another node knows them now. */
  void clear() {
    show(List.of());
  }
}
