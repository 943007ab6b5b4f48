package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.GroupFigure;
import dev.evenkeel.bus.GroupFigure.Kind;
import dev.evenkeel.bus.meters.FigureTable;
import dev.evenkeel.bus.meters.LabelLimit;
import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.bus.meters.Rows;
import dev.evenkeel.dispatcher.GroupReport.ShardReport;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Metrics of consumer groups. Only the node of the active dispatcher shows them. Unknown figures
 * are left out. If there are many groups, some share one label.
 */
final class GroupMetrics {
  private final LabelLimit groupNames;
  private final LabelLimit topicNames;
  private final int rowsMax;
  private final Map<GroupFigure, FigureTable> tables = new EnumMap<>(GroupFigure.class);

  GroupMetrics(MeterScope scope) {
    groupNames = new LabelLimit(scope.labelsMax());
    topicNames = new LabelLimit(scope.labelsMax());
    rowsMax = scope.labelsMax() + 1;
    for (GroupFigure figure : GroupFigure.values()) {
      String[] labels = ofTopic(figure) ? new String[] {"group", "topic"} : new String[] {"group"};
      tables.put(
          figure,
          figure.kind() == Kind.COUNTER
              ? scope.counterTable(figure.metric(), figure.help(), labels)
              : scope.table(figure.metric(), figure.help(), labels));
    }
  }

  private static boolean ofTopic(GroupFigure figure) {
    return figure == GroupFigure.LAG
        || figure == GroupFigure.COMMITTED
        || figure == GroupFigure.SKIPPED;
  }

  /** Shows what fresh reports say. */
  void show(List<GroupReport> reports) {
    groupNames.retain(reports.stream().map(GroupReport::group).toList());
    topicNames.retain(
        reports.stream().flatMap(each -> each.shards().stream()).map(ShardReport::topic).toList());
    tables.forEach(
        (figure, table) -> {
          // Most groups read one topic or a few.
          Rows rows = new Rows(ofTopic(figure) ? 5 * rowsMax : rowsMax);
          for (GroupReport report : reports) {
            add(rows, figure, report, groupNames.of(report.group()));
          }
          table.show(rows.known());
        });
  }

  private void add(Rows rows, GroupFigure figure, GroupReport report, String label) {
    if (!ofTopic(figure)) {
      add(rows, figure, report.figures().get(figure), label);
      return;
    }
    for (ShardReport shard : report.shards()) {
      add(rows, figure, value(figure, shard), label, topicNames.of(shard.topic()));
    }
  }

  private static Long value(GroupFigure figure, ShardReport shard) {
    return switch (figure) {
      case LAG -> shard.lag();
      case SKIPPED -> shard.skipped() == null ? 0 : shard.skipped().total();
      default -> shard.committed();
    };
  }

  private static void add(Rows rows, GroupFigure figure, Number value, String... labels) {
    if (value != null) {
      rows.add(value.doubleValue(), labels);
    } else if (figure.kind() == Kind.WHOLE_GAUGE) {
      // NaN stays NaN whatever is added to it.
      rows.add(Double.NaN, labels);
    }
  }

  /** Another node knows them now. */
  void clear() {
    show(List.of());
  }
}
