package dev.evenkeel.util;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Starts daemon threads, which do not keep the program alive. */
public final class Daemon {
  private Daemon() {}

  public static Thread start(String name, Runnable task) {
    Thread thread = named(name).newThread(task);
    thread.start();
    return thread;
  }

  /** Runs a task on a thread of its own; completes with its result. */
  public static <T> CompletableFuture<T> call(String name, Callable<T> task) {
    CompletableFuture<T> future = new CompletableFuture<>();
    start(
        name,
        () -> {
          try {
            future.complete(task.call());
          } catch (Throwable e) {
            future.completeExceptionally(e);
          }
        });
    return future;
  }

  public static ThreadFactory named(String name) {
    return task -> {
      Thread thread = new Thread(task, name);
      thread.setDaemon(true);
      return thread;
    };
  }

  /**
   * An executor whose threads end when they have nothing to do.
   *
   * @param count most threads at a time
   * @param idleSeconds how long a thread waits for the next task
   * @param waiting holds the tasks for which no thread is free
   */
  public static ThreadPoolExecutor pool(
      String name, int count, long idleSeconds, BlockingQueue<Runnable> waiting) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(count, count, idleSeconds, TimeUnit.SECONDS, waiting, named(name));
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }
}
