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
 * The registry that the parts of one Vert.x put their figures into, and what has to be read before
 * somebody looks at them. May be used from any thread.
 *
 * <p>A program that wants the figures of verticles that it deploys by name puts its own {@link
 * MeterRegistry} into {@link LocalObjects} before; without one nothing is kept.
 */
public final class Meters {
  /** Distinct topics, and groups, with figures of their own, unless told otherwise. */
  public static final int LABELS_MAX = 200;

  /** What was read so recently is not read again. */
  private static final long FRESH_MILLIS = 1_000;

  /** Figures that cannot be read within this time stay as they were. */
  private static final long REFRESH_MILLIS_MAX = 1_000;

  /** One may be held up by what it reads; the other goes on writing the figures down. */
  private static final int THREADS = 2;

  private final Vertx vertx;
  private final MeterRegistry registry;
  private final int labelsMax;
  private final Set<MeterScope> scopes = ConcurrentHashMap.newKeySet();
  private WorkerExecutor worker;
  private Future<Void> refreshed;
  private long refreshedNanos;

  /**
   * @param labelsMax distinct topics, and groups, with figures of their own
   */
  public Meters(Vertx vertx, MeterRegistry registry, int labelsMax) {
    this.vertx = vertx;
    this.registry = registry;
    this.labelsMax = labelsMax;
  }

  /** Those of this Vert.x; made over the {@link MeterRegistry} that {@link LocalObjects} has. */
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
   * Figures of one part, to be closed with it.
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

  /** Runs a task that may wait on a thread that is there for figures. */
  public <T> Future<T> blocking(Callable<T> task) {
    synchronized (this) {
      if (worker == null) {
        worker = vertx.createSharedWorkerExecutor("evenkeel-metrics", THREADS);
      }
    }
    return worker.executeBlocking(task);
  }

  /**
   * Reads what the figures need, unless that was done within the last second. Completes within
   * about a second and never fails: what could not be read keeps its age.
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
