package dev.evenkeel.cli;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** A text table. Numbers are aligned to the right; a hyphen means unknown. */
public final class Table {
  private final List<String[]> rows = new ArrayList<>();
  private final boolean[] numeric;

  public Table(String... heads) {
    rows.add(heads);
    numeric = new boolean[heads.length];
  }

  /** A table with a row for each object of a list. */
  public static Table of(String columns, JsonArray objects) {
    return of(columns, objects, object -> {});
  }

  /**
   * A table with a row for each object of a list.
   *
   * @param columns {@code HEAD field, ...}: the last word names the field
   * @param objects null: none
   * @param change changes a copy of each object before it is shown
   */
  public static Table of(String columns, JsonArray objects, Consumer<JsonObject> change) {
    String[] each = columns.split(", ");
    int[] gaps = Stream.of(each).mapToInt(column -> column.lastIndexOf(' ')).toArray();
    String[] heads = new String[each.length];
    Arrays.setAll(heads, i -> each[i].substring(0, gaps[i]));
    Table table = new Table(heads);
    for (int row = 0; objects != null && row < objects.size(); row++) {
      JsonObject object = objects.getJsonObject(row).copy();
      change.accept(object);
      Object[] cells = new Object[each.length];
      Arrays.setAll(cells, i -> object.getValue(each[i].substring(gaps[i] + 1)));
      table.row(cells);
    }
    return table;
  }

  public Table row(Object... cells) {
    String[] row = new String[cells.length];
    for (int i = 0; i < cells.length; i++) {
      numeric[i] |= cells[i] instanceof Number;
      row[i] = cells[i] == null ? "-" : Terminal.visible(cells[i].toString());
    }
    rows.add(row);
    return this;
  }

  public String text() {
    int[] widths = new int[numeric.length];
    for (String[] row : rows) {
      for (int i = 0; i < row.length; i++) {
        widths[i] = Math.max(widths[i], row[i].length());
      }
    }
    StringBuilder out = new StringBuilder();
    for (String[] row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < row.length; i++) {
        String pad = " ".repeat(widths[i] - row[i].length());
        line.append(numeric[i] ? pad + row[i] : row[i] + pad).append("  ");
      }
      out.append(line.toString().stripTrailing()).append('\n');
    }
    return out.toString();
  }
}
