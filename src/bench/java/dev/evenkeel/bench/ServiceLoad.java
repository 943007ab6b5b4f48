package dev.evenkeel.bench;

import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntFunction;
import java.util.function.LongFunction;

/** Does something again and again for some time, and measures it. */
final class ServiceLoad {
  private static final long ANSWER_SECONDS_MAX = 60;

  private ServiceLoad() {}

  /** One call. */
  interface Step {
    /**
     * @return whether it counts
     */
    boolean run() throws Exception;
  }

  /**
   * In threads, each with a step of its own.
   *
   * @param sample one of so many calls is measured, as reading the clock may cost more than the
   *     call
   */
  static ServiceRound threads(int threads, long millis, int sample, IntFunction<Step> steps)
      throws Exception {
    Percentiles latency = new Percentiles();
    long begin = System.nanoTime();
    long end = begin + TimeUnit.MILLISECONDS.toNanos(millis);
    List<Callable<Long>> workers = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Step step = steps.apply(i);
      workers.add(() -> repeat(step, end, sample, latency));
    }
    long count = 0;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      for (var each : pool.invokeAll(workers)) {
        count += each.get();
      }
    } finally {
      pool.shutdownNow();
    }
    return ServiceRound.of(count, System.nanoTime() - begin, latency);
  }

  private static long repeat(Step step, long end, int sample, Percentiles latency)
      throws Exception {
    long count = 0;
    long now = System.nanoTime();
    while (now < end) {
      if (step.run()) {
        count++;
        long done = System.nanoTime();
        latency.add(done - now);
      }
      for (int i = 1; i < sample; i++) {
        count += step.run() ? 1 : 0;
      }
      now = System.nanoTime();
    }
    return count;
  }

  /**
   * Without blocking, so many at once.
   *
   * @param step begins the call with a number, and gives whether it counts
   */
  static ServiceRound inFlight(int inFlight, long millis, LongFunction<Future<Boolean>> step)
      throws Exception {
    Percentiles latency = new Percentiles();
    LongAdder done = new LongAdder();
    AtomicReference<Throwable> failed = new AtomicReference<>();
    InFlight open = new InFlight(inFlight);
    long begin = System.nanoTime();
    long end = begin + TimeUnit.MILLISECONDS.toNanos(millis);
    for (long i = 0; System.nanoTime() < end && failed.get() == null; i++) {
      open.sending();
      long since = System.nanoTime();
      step.apply(i)
          .onComplete(
              result -> {
                if (result.failed()) {
                  failed.compareAndSet(null, result.cause());
                } else if (result.result()) {
                  latency.add(System.nanoTime() - since);
                  done.increment();
                }
                open.done(result.cause());
              });
    }
    if (!open.awaitAll(TimeUnit.SECONDS.toNanos(ANSWER_SECONDS_MAX))) {
      throw new IllegalStateException(open.unanswered() + " calls have no answer");
    }
    if (failed.get() != null) {
      throw new IllegalStateException("a call failed: " + failed.get(), failed.get());
    }
    return ServiceRound.of(done.sum(), System.nanoTime() - begin, latency);
  }

  /** The result of a future, on a thread that may wait. */
  static <T> T await(Future<T> future) {
    try {
      return future
          .toCompletionStage()
          .toCompletableFuture()
          .get(ANSWER_SECONDS_MAX, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause().toString(), e.getCause());
    } catch (Exception e) {
      throw new IllegalStateException("no answer: " + e, e);
    }
  }
}
