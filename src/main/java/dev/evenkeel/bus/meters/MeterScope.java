package dev.evenkeel.bus.meters;

import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The metrics of one part of a node. {@link #close} removes them from the registry, so that the
 * part can be deployed again. Safe for use from any thread.
 *
 * <p>Names are written with dots and without the unit of a timer: {@code evenkeel.append} is {@code
 * evenkeel_append_seconds} in Prometheus.
 */
public final class MeterScope implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MeterScope.class);

  /** 0.1 ms to 10 s. */
  private static final Duration[] BUCKETS =
      millis(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000);

  private final Meters meters;
  private final MeterRegistry registry;
  private final String part;
  private final List<Meter> made = new ArrayList<>();
  private final List<FigureTable> tables = new ArrayList<>();

  /** What function counters read: they refer to it weakly. */
  private final List<Object> counted = new ArrayList<>();

  private Supplier<Future<?>> reading;
  private Future<?> underWay = Future.succeededFuture();
  private volatile long readNanos = System.nanoTime();
  private boolean failing;

  MeterScope(Meters meters, String part) {
    this.meters = meters;
    this.registry = meters.registry();
    this.part = part;
  }

  private static Duration[] millis(double... millis) {
    Duration[] durations = new Duration[millis.length];
    for (int i = 0; i < millis.length; i++) {
      durations[i] = Duration.ofNanos((long) (millis[i] * 1_000_000));
    }
    return durations;
  }

  /** A timer with buckets from 0.1 ms to 10 s. */
  public Timer timer(String name, String help, String... tags) {
    return keep(
        Timer.builder(name)
            .description(help)
            .tags(tags)
            .serviceLevelObjectives(BUCKETS)
            .register(registry));
  }

  /** A histogram of sizes. */
  public DistributionSummary sizes(String name, String help, double... buckets) {
    return keep(
        DistributionSummary.builder(name)
            .description(help)
            .serviceLevelObjectives(buckets)
            .register(registry));
  }

  /** A counter. */
  public LongAdder counter(String name, String help, String... tags) {
    LongAdder adder = new LongAdder();
    counter(name, help, adder::sum, tags);
    return adder;
  }

  /**
   * A counter for each constant of an enum, with the name of the constant in lower case as its
   * label.
   */
  public <E extends Enum<E>> Map<E, LongAdder> counters(
      String name, String help, String label, Class<E> kinds) {
    Map<E, LongAdder> counters = new EnumMap<>(kinds);
    for (E kind : kinds.getEnumConstants()) {
      counters.put(kind, counter(name, help, label, kind.name().toLowerCase(Locale.ROOT)));
    }
    return counters;
  }

  /** A counter over a count that the caller keeps. It is read from any thread. */
  public void counter(String name, String help, LongSupplier count, String... tags) {
    synchronized (this) {
      counted.add(count);
    }
    keep(
        FunctionCounter.builder(name, count, LongSupplier::getAsLong)
            .description(help)
            .tags(tags)
            .register(registry));
  }

  /** A gauge over a value that is read on any thread when the metrics are; NaN if it is unknown. */
  public void gauge(String name, String help, DoubleSupplier value, String... tags) {
    keep(
        Gauge.builder(name, value::getAsDouble)
            .description(help)
            .tags(tags)
            .strongReference(true)
            .register(registry));
  }

  /** A gauge whose labels come and go. */
  public synchronized FigureTable table(String name, String help, String... labels) {
    return keep(new FigureTable(registry, name, help, labels, false));
  }

  /**
   * A counter whose labels come and go, over counts that the caller keeps.
   *
   * @param name without {@code total}, which Prometheus adds
   */
  public synchronized FigureTable counterTable(String name, String help, String... labels) {
    return keep(new FigureTable(registry, name, help, labels, true));
  }

  private FigureTable keep(FigureTable table) {
    tables.add(table);
    return table;
  }

  private synchronized <M extends Meter> M keep(M meter) {
    made.add(meter);
    return meter;
  }

  public int labelsMax() {
    return meters.labelsMax();
  }

  /**
   * Sets a task that reads values before the metrics are written. It runs at most once a second,
   * and never twice at a time. The age of the values becomes a metric.
   *
   * @param task must not block
   */
  public void reading(Supplier<Future<?>> task) {
    synchronized (this) {
      reading = task;
    }
    gauge(
        "evenkeel.metrics.age.seconds",
        "Time since the figures of a part were last read",
        () -> (System.nanoTime() - readNanos) / 1e9,
        "part",
        part);
  }

  /** Runs a task that may block on a thread for metrics. */
  public <T> Future<T> blocking(Callable<T> task) {
    return meters.blocking(task);
  }

  synchronized Future<?> refresh() {
    if (reading == null || !underWay.isComplete()) {
      return underWay;
    }
    Future<?> now;
    try {
      now = reading.get();
    } catch (RuntimeException e) {
      now = Future.failedFuture(e);
    }
    underWay = now.onComplete(done -> read(done.cause()));
    return underWay;
  }

  private synchronized void read(Throwable failure) {
    if (failure == null) {
      readNanos = System.nanoTime();
    } else if (!failing) {
      LOG.warn("the metrics of '{}' cannot be read now: {}", part, failure.toString());
    }
    failing = failure != null;
  }

  @Override
  public synchronized void close() {
    meters.closed(this);
    reading = null;
    made.forEach(registry::remove);
    made.clear();
    tables.forEach(FigureTable::clear);
    tables.clear();
    counted.clear();
  }
}
