package dev.evenkeel.seconduser;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;

/** How often operations succeeded and how long they took, by kind of operation. */
final class Figures {
  private static final long MICROS_MAX = TimeUnit.MINUTES.toMicros(10);

  private static final class Kind {
    final Histogram micros = new Histogram(MICROS_MAX, 3);
    long failed;
    String failure;
  }

  private final Map<String, Kind> kinds = new TreeMap<>();

  private Kind kind(String name) {
    return kinds.computeIfAbsent(name, any -> new Kind());
  }

  synchronized void succeeded(String name, long nanos) {
    kind(name).micros.recordValue(Math.min(MICROS_MAX, TimeUnit.NANOSECONDS.toMicros(nanos)));
  }

  synchronized void failed(String name, Throwable why) {
    Kind kind = kind(name);
    kind.failed++;
    if (kind.failure == null) {
      kind.failure = String.valueOf(why);
    }
  }

  /** Counts these, too. */
  synchronized void add(Figures more) {
    more.kinds.forEach(
        (name, kind) -> {
          Kind own = kind(name);
          own.micros.add(kind.micros);
          own.failed += kind.failed;
          own.failure = own.failure == null ? kind.failure : own.failure;
        });
  }

  synchronized List<String> names() {
    return List.copyOf(kinds.keySet());
  }

  synchronized long count() {
    return kinds.values().stream().mapToLong(kind -> kind.micros.getTotalCount()).sum();
  }

  synchronized long failed() {
    return kinds.values().stream().mapToLong(kind -> kind.failed).sum();
  }

  /** Each kind of operation that has failed, with the first reason. */
  synchronized Map<String, String> failures() {
    Map<String, String> failures = new LinkedHashMap<>();
    kinds.forEach(
        (name, kind) -> {
          if (kind.failed > 0) {
            failures.put(name, kind.failed + " of " + count(kind) + ": " + kind.failure);
          }
        });
    return failures;
  }

  private static long count(Kind kind) {
    return kind.failed + kind.micros.getTotalCount();
  }

  /** How many of 100 operations succeeded. */
  synchronized double success() {
    return 100.0 * count() / Math.max(1, count() + failed());
  }

  /** Of the operations that succeeded. */
  synchronized double millis(String name, double percentile) {
    return kind(name).micros.getValueAtPercentile(percentile) / 1_000.0;
  }

  /** How many operations of this kind succeeded. */
  synchronized long count(String name) {
    return kind(name).micros.getTotalCount();
  }

  /** Kinds that took part, with their p50 and p99 in milliseconds. */
  @Override
  public synchronized String toString() {
    return kinds.entrySet().stream()
        .map(
            each ->
                "%s %s: p50 %.1f p99 %.1f"
                    .formatted(
                        each.getKey(),
                        each.getValue().micros.getTotalCount(),
                        millis(each.getKey(), 50),
                        millis(each.getKey(), 99)))
        .collect(Collectors.joining("; "));
  }
}
