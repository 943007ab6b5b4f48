package dev.evenkeel.bus.meters;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Figures by their labels; what has the same labels is summed. Not thread-safe. */
public final class Rows {
  private final int max;
  private final Map<List<String>, Double> sums = new LinkedHashMap<>();

  /**
   * @param max rows; those that come when there are so many are summed in one whose labels are all
   *     {@link LabelLimit#OTHER}
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

  /** Without the sums that are not known: NaN was among what they add up. */
  public Rows known() {
    sums.values().removeIf(sum -> Double.isNaN(sum));
    return this;
  }

  Map<List<String>, Double> sums() {
    return sums;
  }
}
