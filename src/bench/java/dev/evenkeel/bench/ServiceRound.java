package dev.evenkeel.bench;

import java.util.List;
import java.util.Locale;

/**
 * What one round of one contender measured.
 *
 * @param perSecond how often it was done
 * @param p50Millis half took no longer
 * @param p99Millis 99 % took no longer
 */
record ServiceRound(double perSecond, double p50Millis, double p99Millis) {
  private static final int PERCENT_ALL = 100;

  /** Of so many calls in a time. */
  static ServiceRound of(long count, long nanos, Percentiles latency) {
    if (count == 0) {
      throw new IllegalStateException("nothing was done in " + Stats.seconds(nanos) + " s");
    }
    return new ServiceRound(count / (nanos / 1e9), latency.millis(50), latency.millis(99));
  }

  /** Of times of which one follows the other: the rate is what their median allows. */
  static ServiceRound of(Percentiles times) {
    double median = times.millis(50);
    return new ServiceRound(1e3 / median, median, times.millis(PERCENT_ALL));
  }

  /** The medians of several. */
  static ServiceRound median(List<ServiceRound> rounds) {
    return new ServiceRound(
        Stats.median(rounds.stream().map(ServiceRound::perSecond).toList()),
        Stats.median(rounds.stream().map(ServiceRound::p50Millis).toList()),
        Stats.median(rounds.stream().map(ServiceRound::p99Millis).toList()));
  }

  /** For two cells of a table: the rate, and the latencies. */
  String shown() {
    return String.format(
        Locale.ROOT, "%s | %s / %s", figures(perSecond), figures(p50Millis), figures(p99Millis));
  }

  /** Latencies are measured in whole microseconds. */
  private static String figures(double value) {
    if (value < 0.001) {
      return "< 0.001";
    }
    return value >= 100
        ? String.format(Locale.ROOT, "%,.0f", value)
        : String.format(Locale.ROOT, "%.3g", value);
  }
}
