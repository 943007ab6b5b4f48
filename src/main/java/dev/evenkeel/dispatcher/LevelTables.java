package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.meters.FigureTable;
import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.bus.meters.Rows;
import java.util.List;

/**
 * Figures of groups in mode level; what is not known now is not shown. Many groups under one label
 * are summed.
 */
final class LevelTables {
  /**
   * What is shown of a group.
   *
   * @param figures null if there are none now
   */
  record Row(String label, int range, LevelFigures figures) {}

  private final int rowsMax;
  private final FigureTable range;
  private final FigureTable gap;
  private final FigureTable round;
  private final FigureTable held;
  private final FigureTable setAside;

  /**
   * @param rowsMax groups that are told apart, at most
   */
  LevelTables(MeterScope scope, int rowsMax) {
    this.rowsMax = rowsMax;
    range =
        scope.table(
            "evenkeel.group.level.range",
            "Mode level: largest allowed difference of two members in finished messages",
            "group");
    gap =
        scope.table(
            "evenkeel.group.level.gap",
            "Mode level: largest difference of two live members in finished messages",
            "group");
    round =
        scope.table(
            "evenkeel.group.level.round",
            "Mode level: how often the member that finished least got ahead by the range",
            "group");
    held =
        scope.table(
            "evenkeel.group.level.held.seconds",
            "Mode level: for how long one member has held up the others; 0 if none does",
            "group");
    setAside =
        scope.counterTable(
            "evenkeel.group.level.set.aside",
            "Mode level: how often a member was set aside for holding the others up",
            "group");
  }

  /**
   * @param groups those in mode level, by their label
   */
  void show(List<Row> groups) {
    Rows ranges = new Rows(rowsMax);
    Rows gaps = new Rows(rowsMax);
    Rows rounds = new Rows(rowsMax);
    Rows helds = new Rows(rowsMax);
    Rows asides = new Rows(rowsMax);
    for (Row row : groups) {
      ranges.add(row.range(), row.label());
      LevelFigures figures = row.figures();
      if (figures != null) {
        gaps.add(figures.gap(), row.label());
        rounds.add(figures.round(), row.label());
        helds.add(figures.holder() == null ? 0 : figures.heldMillis() / 1_000.0, row.label());
        asides.add(figures.setAside(), row.label());
      }
    }
    range.show(ranges);
    gap.show(gaps);
    round.show(rounds);
    held.show(helds);
    setAside.show(asides);
  }

  /** Another node knows them now. */
  void clear() {
    show(List.of());
  }
}
