package dev.evenkeel.cluster;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Calls to Hazelcast that may block, on a thread of their own; one after another, so that what one
 * caller writes to one map keeps its order. Any failure is UNAVAILABLE, past the limit OVERLOADED.
 */
final class MapCalls {
  /** Calls that may wait at once. */
  private static final int WAITING_CALLS_MAX = 10_000;

  private static final int IDLE_SECONDS_MAX = 10;

  private final ThreadPoolExecutor executor;

  MapCalls(String threadName) {
    executor =
        new ThreadPoolExecutor(
            1,
            1,
            IDLE_SECONDS_MAX,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(WAITING_CALLS_MAX),
            task -> {
              Thread thread = new Thread(task, threadName);
              thread.setDaemon(true);
              return thread;
            });
    executor.allowCoreThreadTimeOut(true);
  }

  /** Runs a blocking call. Completes on the caller's context if it has one. */
  <T> Future<T> run(Vertx vertx, Callable<T> call) {
    Promise<T> promise = promise(vertx);
    execute(
        promise,
        () -> {
          try {
            promise.tryComplete(call.call());
          } catch (Exception e) {
            promise.tryFail(unavailable(e));
          }
        });
    return promise.future();
  }

  /** Starts an asynchronous call, which may block while it starts. */
  <T> Future<T> stage(Vertx vertx, Supplier<CompletionStage<T>> call) {
    Promise<T> promise = promise(vertx);
    execute(
        promise,
        () -> {
          try {
            call.get()
                .whenComplete(
                    (value, failure) -> {
                      if (failure == null) {
                        promise.tryComplete(value);
                      } else {
                        promise.tryFail(unavailable(failure));
                      }
                    });
          } catch (RuntimeException e) {
            promise.tryFail(unavailable(e));
          }
        });
    return promise.future();
  }

  /** The thread itself. It refuses what is past the limit, and everything once it is closed. */
  Executor executor() {
    return executor;
  }

  private void execute(Promise<?> promise, Runnable task) {
    try {
      executor.execute(task);
    } catch (RejectedExecutionException e) {
      promise.tryFail(
          executor.isShutdown()
              ? new RefusedException(Refusal.UNAVAILABLE, "this member has left the cluster")
              : new RefusedException(
                  Refusal.OVERLOADED,
                  "more than " + WAITING_CALLS_MAX + " calls wait for the shared maps"));
    }
  }

  private static <T> Promise<T> promise(Vertx vertx) {
    ContextInternal context = ContextInternal.current();
    return context != null && context.owner() == vertx ? context.promise() : Promise.promise();
  }

  private static RefusedException unavailable(Throwable failure) {
    return new RefusedException(
        Refusal.UNAVAILABLE, "the shared maps are out of reach: " + failure.getMessage());
  }

  void close() {
    executor.shutdown();
  }
}
