package dev.evenkeel.bench;

import java.util.Arrays;
import java.util.List;

/** Statistics over the results of several runs. */
final class Stats {
  private Stats() {}

  /**
   * The middle value, or the mean of the two in the middle.
   *
   * @throws IllegalArgumentException if there are none
   */
  static double median(List<? extends Number> values) {
    if (values.isEmpty()) {
      throw new IllegalArgumentException("the median of nothing");
    }
    double[] sorted = values.stream().mapToDouble(Number::doubleValue).toArray();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  static double max(List<? extends Number> values) {
    return values.stream().mapToDouble(Number::doubleValue).max().orElseThrow();
  }

  static double min(List<? extends Number> values) {
    return values.stream().mapToDouble(Number::doubleValue).min().orElseThrow();
  }

  /** Rounds to three decimal places. */
  static double rounded(double value) {
    return Math.round(value * 1_000) / 1_000.0;
  }

  static double seconds(long nanos) {
    return rounded(nanos / 1e9);
  }
}
