package dev.evenkeel.bus.meters;

import dev.evenkeel.bus.LocalObjects;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The metrics of all parts of one Vert.x. Safe for use from any thread.
 *
 * <p>A program that deploys verticles by name and wants their metrics puts its own {@link
 * MeterRegistry} into {@link LocalObjects} before. Without one, the metrics go nowhere.
 */
public final class Meters {
  /** Default of how many topics, and how many groups, have metrics of their own. */
  public static final int LABELS_MAX = 200;

  /** Values that were read within this time are not read again. */
  private static final long FRESH_MILLIS = 1_000;

  /** Values that cannot be read within this time stay as they are. */
  private static final long REFRESH_MILLIS_MAX = 1_000;

  /** While one reads slow values, the other can write the metrics. */
  private static final int THREADS = 2;

  private final Vertx vertx;
  private final MeterRegistry registry;
  private final int labelsMax;
  private final Set<MeterScope> scopes = ConcurrentHashMap.newKeySet();
  private WorkerExecutor worker;
  private Future<Void> refreshed;
  private long refreshedNanos;

  /**
   * @param labelsMax how many topics, and how many groups, have metrics of their own
   */
  public Meters(Vertx vertx, MeterRegistry registry, int labelsMax) {
    this.vertx = vertx;
    this.registry = registry;
    this.labelsMax = labelsMax;
  }

  /** The metrics of a Vert.x, over the {@link MeterRegistry} in {@link LocalObjects}. */
  public static Meters of(Vertx vertx) {
    synchronized (Meters.class) {
      Meters present = LocalObjects.get(vertx, Meters.class);
      if (present != null) {
        return present;
      }
      MeterRegistry given = LocalObjects.get(vertx, MeterRegistry.class);
      Meters made =
          new Meters(vertx, given == null ? new CompositeMeterRegistry() : given, LABELS_MAX);
      LocalObjects.put(vertx, Meters.class, made);
      return made;
    }
  }

  public MeterRegistry registry() {
    return registry;
  }

  public int labelsMax() {
    return labelsMax;
  }

  /**
   * Makes the metrics of one part, which closes them when it stops.
   *
   * @param part one word, for {@code evenkeel_metrics_age_seconds}
   */
  public MeterScope scope(String part) {
    MeterScope scope = new MeterScope(this, part);
    scopes.add(scope);
    return scope;
  }

  void closed(MeterScope scope) {
    scopes.remove(scope);
  }

  /** Runs a task that may block on a thread for metrics. */
  public <T> Future<T> blocking(Callable<T> task) {
    synchronized (this) {
      if (worker == null) {
        worker = vertx.createSharedWorkerExecutor("evenkeel-metrics", THREADS);
      }
    }
    return worker.executeBlocking(task);
  }

  /**
   * Reads the values of all metrics, unless that was done within the last second. Completes within
   * about a second and never fails: values that cannot be read stay as they are.
   */
  public synchronized Future<Void> refresh() {
    long now = System.nanoTime();
    if (refreshed == null || now - refreshedNanos >= FRESH_MILLIS * 1_000_000) {
      List<Future<?>> all = new ArrayList<>();
      scopes.forEach(
          scope ->
              all.add(
                  scope
                      .refresh()
                      .timeout(REFRESH_MILLIS_MAX, TimeUnit.MILLISECONDS)
                      .otherwiseEmpty()));
      refreshedNanos = now;
      refreshed = Future.join(all).mapEmpty();
    }
    return refreshed;
  }
}
