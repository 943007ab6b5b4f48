package dev.evenkeel.cli;

import java.util.ArrayList;
import java.util.List;

/** Lines of columns for people. Numbers stand to the right; what is unknown is a hyphen. */
public final class Table {
  private final List<String[]> rows = new ArrayList<>();
  private final boolean[] numeric;

  public Table(String... heads) {
    rows.add(heads);
    numeric = new boolean[heads.length];
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
