package dev.evenkeel.cli;

import dev.evenkeel.api.RecordJson;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BiConsumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A text table. Numbers are aligned to the right; a hyphen means unknown. */
public final class Table {
  private final List<String[]> rows = new ArrayList<>();
  private final boolean[] numeric;

  public Table(String... heads) {
    rows.add(heads);
    numeric = new boolean[heads.length];
  }

  /** A table with a row for each record. */
  static Table of(String columns, List<? extends Record> records) {
    return of(columns, RecordJson.json(records));
  }

  /** The same, with some fields changed: {@code change} gets each record, and its JSON. */
  static <T extends Record> Table of(
      String columns, List<T> records, BiConsumer<T, JsonObject> change) {
    JsonArray objects = RecordJson.json(records);
    for (int i = 0; i < records.size(); i++) {
      change.accept(records.get(i), objects.getJsonObject(i));
    }
    return of(columns, objects);
  }

  /**
   * A table with a row for each object of a list.
   *
   * @param columns {@code HEAD field, ...}: the last word names the field, unless it is in
   *     capitals; then the head does, and {@code LAST FAILED} is {@code lastFailed}
   * @param objects null: none
   */
  public static Table of(String columns, JsonArray objects) {
    String[] heads = columns.split(", ");
    String[] fields = new String[heads.length];
    for (int i = 0; i < heads.length; i++) {
      int gap = heads[i].lastIndexOf(' ');
      boolean named = !heads[i].equals(heads[i].toUpperCase(Locale.ROOT));
      fields[i] = named ? heads[i].substring(gap + 1) : field(heads[i]);
      heads[i] = named ? heads[i].substring(0, gap) : heads[i];
    }
    Table table = new Table(heads);
    for (int row = 0; objects != null && row < objects.size(); row++) {
      table.row(Stream.of(fields).map(objects.getJsonObject(row)::getValue).toArray());
    }
    return table;
  }

  private static String field(String head) {
    return Pattern.compile(" (.)")
        .matcher(head.toLowerCase(Locale.ROOT))
        .replaceAll(found -> found.group(1).toUpperCase(Locale.ROOT));
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
