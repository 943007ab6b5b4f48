package dev.evenkeel.log.raft;

import dev.evenkeel.util.Daemon;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The thread on which a node reports leadership and sends rare requests. */
final class NodeThread implements Executor, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeThread.class);

  /** Tasks are short; one that hangs must not delay the end. */
  private static final long CLOSE_MILLIS_MAX = 10_000;

  private final ScheduledThreadPoolExecutor executor;
  private volatile Thread running;

  NodeThread(String name) {
    executor =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              running = Daemon.named(name).newThread(task);
              return running;
            });
  }

  /** Runs a task soon; not at all after {@link #close()}. */
  @Override
  public void execute(Runnable task) {
    try {
      executor.execute(() -> guarded(task));
    } catch (RejectedExecutionException e) {
      LOG.debug("not run after the node was closed: {}", task);
    }
  }

  void every(long millis, Runnable task) {
    executor.scheduleWithFixedDelay(() -> guarded(task), 0, millis, TimeUnit.MILLISECONDS);
  }

  private static void guarded(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException e) {
      LOG.error("a task of the log failed", e);
    }
  }

  /**
   * Waits until no task runs any more, so that nothing is written afterwards. It does not wait for
   * the task that calls it, nor for a task that hangs for 10 s. An interrupt does not end the wait;
   * the caller finds it set.
   */
  @Override
  public void close() {
    executor.shutdown();
    if (Thread.currentThread() == running) {
      return;
    }
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS_MAX);
    boolean interrupted = false;
    boolean ended = false;
    while (!ended && deadline - System.nanoTime() > 0) {
      try {
        ended = executor.awaitTermination(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (!ended) {
      LOG.warn("a task of the log is still under way after {} ms", CLOSE_MILLIS_MAX);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
