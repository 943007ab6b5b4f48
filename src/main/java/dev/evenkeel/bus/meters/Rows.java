package dev.evenkeel.bus.meters;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Values by their labels. Values with the same labels are summed. Not safe for use from several
 * threads.
 */
public final class Rows {
  private final int max;
  private final Map<List<String>, Double> sums = new LinkedHashMap<>();

  /**
   * @param max most rows; further values go into one row whose labels are all {@link
   *     LabelLimit#OTHER}
   */
  public Rows(int max) {
    this.max = max;
  }

  public Rows add(double value, String... labels) {
    List<String> key = List.of(labels);
    if (sums.size() >= max && !sums.containsKey(key)) {
      key = key.stream().map(any -> LabelLimit.OTHER).toList();
    }
    sums.merge(key, value, Double::sum);
    return this;
  }

  /** Removes the sums that are unknown, because one of their values is NaN. */
  public Rows known() {
    sums.values().removeIf(sum -> Double.isNaN(sum));
    return this;
  }

  Map<List<String>, Double> sums() {
    return sums;
  }
}
