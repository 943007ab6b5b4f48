package dev.evenkeel.bench;

import dev.evenkeel.cli.Table;
import io.vertx.core.json.JsonObject;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * A thread-safe histogram of latencies with three digits of precision, up to {@link #MINUTES_MAX}.
 */
final class Percentiles {
  /** A longer latency counts as this. */
  private static final long MINUTES_MAX = 10;

  private static final long NANOS_MAX = TimeUnit.MINUTES.toNanos(MINUTES_MAX);
  private static final int DIGITS = 3;

  private final Histogram histogram = new ConcurrentHistogram(NANOS_MAX, DIGITS);

  void add(long nanos) {
    histogram.recordValue(Math.max(0, Math.min(NANOS_MAX, nanos)));
  }

  long count() {
    return histogram.getTotalCount();
  }

  /** Milliseconds below which {@code percent} of the latencies are; null if there are none. */
  Double millis(double percent) {
    if (count() == 0) {
      return null;
    }
    return Math.round(histogram.getValueAtPercentile(percent) / 1e3) / 1e3;
  }

  JsonObject json() {
    return new JsonObject()
        .put("count", count())
        .put("p50Millis", millis(50))
        .put("p90Millis", millis(90))
        .put("p99Millis", millis(99))
        .put("p999Millis", millis(99.9))
        .put("maxMillis", millis(100));
  }

  /** A table with a column for each figure of {@link #row}. */
  static Table table() {
    return new Table("MILLISECONDS", "COUNT", "P50", "P90", "P99", "P99.9", "MAX");
  }

  Object[] row(String name) {
    return new Object[] {
      name, count(), millis(50), millis(90), millis(99), millis(99.9), millis(100)
    };
  }
}
