package dev.evenkeel.model;

import dev.evenkeel.Unchecked;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
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

  /** Counts on from what a file says, if it is there. */
  public synchronized void read(Path file) {
    Unchecked.run(
        () -> {
          for (String line : Files.exists(file) ? Files.readAllLines(file) : List.<String>of()) {
            int at = line.lastIndexOf(',');
            counts.merge(
                line.substring(0, at), Integer.parseInt(line.substring(at + 1)), Integer::sum);
          }
        });
  }

  public synchronized void add(Collection<String> happened) {
    runs++;
    TreeSet<String> sorted = new TreeSet<>(happened);
    names.addAll(sorted);
    for (String one : sorted) {
      sorted.tailSet(one, false).forEach(two -> counts.merge(pair(one, two), 1, Integer::sum));
    }
  }

  private static String pair(String one, String two) {
    return one + "," + two;
  }

  /** Each pair of names, with its count. */
  private Map<String, Integer> pairs() {
    Map<String, Integer> pairs = new LinkedHashMap<>();
    for (String one : names) {
      for (String two : names.tailSet(one, false)) {
        pairs.put(pair(one, two), counts.getOrDefault(pair(one, two), 0));
      }
    }
    return pairs;
  }

  private static String line(Map.Entry<String, Integer> pair) {
    return pair.getKey() + "," + pair.getValue();
  }

  /** Two names and a count a line, for each pair of names. The file is never there in part. */
  public synchronized void write(Path file) {
    Unchecked.run(
        () -> {
          Files.createDirectories(file.toAbsolutePath().getParent());
          Path next = file.resolveSibling(file.getFileName() + ".new");
          Files.write(next, pairs().entrySet().stream().map(Matrix::line).toList());
          Files.move(
              next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        });
  }

  /** The pairs that have occurred less often than that, the rarest first. */
  public synchronized List<String> below(int least) {
    return pairs().entrySet().stream()
        .filter(pair -> pair.getValue() < least)
        .sorted(Map.Entry.comparingByValue(Comparator.naturalOrder()))
        .map(Matrix::line)
        .toList();
  }

  /** How many pairs of names there are. */
  public synchronized int size() {
    return names.size() * (names.size() - 1) / 2;
  }
}
