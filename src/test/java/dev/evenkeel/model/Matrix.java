package dev.evenkeel.model;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** In how many runs which two operations or settings have occurred together. */
public final class Matrix {
  private final TreeSet<String> names = new TreeSet<>();
  private final Map<String, Integer> counts = new HashMap<>();
  private int runs;

  /**
   * @param known the names that have a row even if they never occur
   */
  public Matrix(Collection<String> known) {
    names.addAll(known);
  }

  synchronized int runs() {
    return runs;
  }

  public synchronized void add(Collection<String> happened) {
    runs++;
    TreeSet<String> sorted = new TreeSet<>(happened);
    names.addAll(sorted);
    for (String one : sorted) {
      for (String two : sorted.tailSet(one, false)) {
        counts.merge(one + "," + two, 1, Integer::sum);
      }
    }
  }

  /** Two names and a count a line, for each pair of names. */
  synchronized List<String> lines() {
    List<String> lines = new ArrayList<>();
    for (String one : names) {
      for (String two : names.tailSet(one, false)) {
        String pair = one + "," + two;
        lines.add(pair + "," + counts.getOrDefault(pair, 0));
      }
    }
    return lines;
  }

  public void write(Path file) throws IOException {
    Files.createDirectories(file.getParent());
    Files.write(file, lines());
  }
}
