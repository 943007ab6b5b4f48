package dev.evenkeel.cli;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/** Lines of columns for people. Numbers stand to the right; what is unknown is a hyphen. */
public final class Table {
  private final List<String[]> rows = new ArrayList<>();
  private final boolean[] numeric;

  public Table(String... heads) {
    rows.add(heads);
    numeric = new boolean[heads.length];
  }

  /**
   * A row for each object of a list.
   *
   * @param columns {@code HEAD field, ...}: the last word names the field
   * @param objects null: none
   */
  public static Table of(String columns, JsonArray objects) {
    String[] each = columns.split(", ");
    int[] gaps = Stream.of(each).mapToInt(column -> column.lastIndexOf(' ')).toArray();
    String[] heads = new String[each.length];
    String[] fields = new String[each.length];
    Arrays.setAll(heads, i -> each[i].substring(0, gaps[i]));
    Arrays.setAll(fields, i -> each[i].substring(gaps[i] + 1));
    return new Table(heads)
        .rows(objects, object -> Stream.of(fields).map(object::getValue).toArray());
  }

  public Table row(Object... cells) {
    String[] row = new String[cells.length];
    for (int i = 0; i < cells.length; i++) {
      numeric[i] |= cells[i] instanceof Number;
      row[i] = cells[i] == null ? "-" : cells[i].toString();
    }
    rows.add(row);
    return this;
  }

  /**
   * A row for each object of a list.
   *
   * @param objects null: none
   */
  public Table rows(JsonArray objects, Function<JsonObject, Object[]> cells) {
    for (int i = 0; objects != null && i < objects.size(); i++) {
      row(cells.apply(objects.getJsonObject(i)));
    }
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
