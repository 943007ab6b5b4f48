package dev.evenkeel.log.raft;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The one thread on which a node tells about leadership and sends rare requests. */
final class NodeThread implements Executor, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeThread.class);

  /** Tasks are short; one that hangs must not hold up the end. */
  private static final long CLOSE_MILLIS_MAX = 10_000;

  private final ScheduledThreadPoolExecutor executor;
  private volatile Thread running;

  NodeThread(String name) {
    executor =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, name);
              thread.setDaemon(true);
              running = thread;
              return thread;
            });
  }

  /** Runs a task soon; after {@link #close()} not at all. */
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
   * Returns when no task is under way, so that nothing is written any more, say: but for the one
   * that closes it, and one that hangs for 10 s. An interrupt is kept for the caller, and does not
   * end the wait.
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
