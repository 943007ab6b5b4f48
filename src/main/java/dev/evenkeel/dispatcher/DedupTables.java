package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.DedupTally;
import dev.evenkeel.bus.meters.FigureTable;
import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.bus.meters.Rows;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Figures of deduplication by group; what is not known is not shown. Many groups under one label
 * are summed.
 */
final class DedupTables {
  /** What is shown of a group. */
  record Row(String label, DedupFigures figures) {}

  private final int rowsMax;
  private final Map<FigureTable, ToLongFunction<DedupTally.Counts>> counts = new LinkedHashMap<>();
  private final FigureTable share;

  /**
   * @param rowsMax groups that are told apart, at most
   */
  DedupTables(MeterScope scope, int rowsMax) {
    this.rowsMax = rowsMax;
    counter(scope, "accepted", "handlers that could begin at once", DedupTally.Counts::accepted);
    counter(scope, "blocked", "messages that waited for their turn", DedupTally.Counts::blocked);
    counter(scope, "declined", "messages finished without a handler", DedupTally.Counts::declined);
    counter(scope, "evicted", "claims found overdue", DedupTally.Counts::evicted);
    counter(scope, "lost", "runs that may have overlapped with another", DedupTally.Counts::lost);
    counter(
        scope,
        "unguarded",
        "runs that went ahead because the cluster did not answer",
        DedupTally.Counts::unguarded);
    gauge(scope, "processing", "handlers at work", DedupTally.Counts::processing);
    gauge(scope, "waiting", "messages that wait for their turn", DedupTally.Counts::waiting);
    share =
        scope.table(
            "evenkeel.group.repetition.share",
            "Part of the messages that dedup would decline or declines, on or off",
            "group");
  }

  private void counter(
      MeterScope scope, String name, String help, ToLongFunction<DedupTally.Counts> figure) {
    counts.put(
        scope.counterTable("evenkeel.group.dedup." + name, "Dedup: " + help, "group"), figure);
  }

  private void gauge(
      MeterScope scope, String name, String help, ToLongFunction<DedupTally.Counts> figure) {
    counts.put(scope.table("evenkeel.group.dedup." + name, "Dedup: " + help, "group"), figure);
  }

  void show(List<Row> groups) {
    counts.forEach(
        (table, figure) -> {
          Rows rows = new Rows(rowsMax);
          for (Row row : groups) {
            if (row.figures().counts() != null) {
              rows.add(figure.applyAsLong(row.figures().counts()), row.label());
            }
          }
          table.show(rows);
        });
    Rows shares = new Rows(rowsMax);
    for (Row row : groups) {
      DedupTally.Repeats repeats = row.figures().repeats();
      if (repeats != null && repeats.declinedShare() != null) {
        shares.add(repeats.declinedShare(), row.label());
      }
    }
    share.show(shares);
  }

  /** Another node knows them now. */
  void clear() {
    show(List.of());
  }
}
