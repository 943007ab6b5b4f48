package dev.evenkeel.cluster;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.util.Daemon;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;

/**
 * Makes calls to Hazelcast that may block, on a thread of their own and one after another, so that
 * writes keep their order. A failure is UNAVAILABLE, and a call beyond the limit OVERLOADED.
 */
final class MapCalls {
  /** Most calls that wait at once. */
  private static final int WAITING_CALLS_MAX = 10_000;

  private static final int IDLE_SECONDS_MAX = 10;

  private final ThreadPoolExecutor executor;

  MapCalls(String threadName) {
    executor =
        Daemon.pool(threadName, 1, IDLE_SECONDS_MAX, new ArrayBlockingQueue<>(WAITING_CALLS_MAX));
  }

  /** Runs a blocking call. Completes on the caller's context if it has one. */
  <T> Future<T> run(Vertx vertx, Callable<T> call) {
    return stage(vertx, () -> CompletableFuture.completedStage(call.call()));
  }

  /** Like {@link #run}, for an asynchronous call that may block while it starts. */
  <T> Future<T> stage(Vertx vertx, Callable<CompletionStage<T>> call) {
    Promise<T> promise = promise(vertx);
    try {
      executor.execute(
          () -> {
            try {
              call.call().whenComplete((value, failure) -> end(promise, value, failure));
            } catch (Exception e) {
              end(promise, null, e);
            }
          });
    } catch (RejectedExecutionException e) {
      promise.tryFail(
          executor.isShutdown()
              ? Refusal.UNAVAILABLE.error("this member has left the cluster")
              : Refusal.OVERLOADED.error(
                  "more than " + WAITING_CALLS_MAX + " calls wait for the shared maps"));
    }
    return promise.future();
  }

  private static <T> void end(Promise<T> promise, T value, Throwable failure) {
    if (failure == null) {
      promise.tryComplete(value);
    } else {
      promise.tryFail(
          Refusal.UNAVAILABLE.error("the shared maps are out of reach: " + failure.getMessage()));
    }
  }

  /** The thread itself. It rejects tasks beyond the limit, and all tasks once it is closed. */
  Executor executor() {
    return executor;
  }

  private static <T> Promise<T> promise(Vertx vertx) {
    ContextInternal context = ContextInternal.current();
    return context != null && context.owner() == vertx ? context.promise() : Promise.promise();
  }

  void close() {
    executor.shutdown();
  }
}
