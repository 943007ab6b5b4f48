package dev.evenkeel.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What went against a promise, by the promise; of each the first few in words, and how many. */
final class Violations {
  private static final int WORDS_MAX = 10;

  private final Map<String, List<String>> examples = new TreeMap<>();
  private final Map<String, Integer> counts = new TreeMap<>();

  void add(String promise, String what) {
    counts.merge(promise, 1, Integer::sum);
    List<String> some = examples.computeIfAbsent(promise, first -> new ArrayList<>());
    if (some.size() < WORDS_MAX) {
      some.add(what);
    }
  }

  boolean isEmpty() {
    return counts.isEmpty();
  }

  /** How often each promise was broken. */
  Map<String, Integer> counts() {
    return counts;
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    examples.forEach(
        (promise, some) -> {
          text.append(promise).append(": ").append(counts.get(promise)).append('\n');
          some.forEach(what -> text.append("  ").append(what).append('\n'));
        });
    return text.toString();
  }
}
