package dev.evenkeel.cli;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;

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

  static ThreadFactory named(String name) {
    return task -> {
      Thread thread = new Thread(task, name);
      thread.setDaemon(true);
      return thread;
    };
  }
}
