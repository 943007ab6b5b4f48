package dev.evenkeel.bus.share;

import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.util.Daemon;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * Work of one node that takes long and must not hold up an event loop, such as to parse large JSON
 * or to plan. At most {@link #THREADS} tasks run at a time, and one of each user; the others wait
 * in the {@link Turns} of their users. Safe for use from any thread.
 */
public final class HeavyWork {
  /** Threads for it. */
  public static final int THREADS = 2;

  /** Most tasks that wait. */
  public static final int WAITING_MAX = 500;

  /** Most bytes of tasks that wait: 64 MiB. */
  public static final long WAITING_BYTES_MAX = 64L << 20;

  /** How long a thread waits for the next task. */
  private static final long IDLE_SECONDS = 10;

  /** Not of the verticle that needs it first: others go on when that one is undeployed. */
  private final Executor threads =
      Daemon.pool("evenkeel-heavy", THREADS, IDLE_SECONDS, new LinkedBlockingQueue<>());

  private final UserTurns turns;

  private HeavyWork(Vertx vertx) {
    turns =
        new UserTurns(
            vertx,
            "large requests",
            THREADS,
            WAITING_MAX,
            WAITING_BYTES_MAX,
            Shares.of(vertx)::weight);
  }

  /** That of a node; the same for all of its parts. */
  public static HeavyWork of(Vertx vertx) {
    synchronized (HeavyWork.class) {
      HeavyWork present = LocalObjects.get(vertx, HeavyWork.class);
      if (present == null) {
        present = new HeavyWork(vertx);
        LocalObjects.put(vertx, HeavyWork.class, present);
      }
      return present;
    }
  }

  /**
   * Does it on another thread when the user has its turn.
   *
   * @param user null: unknown
   * @param bytes that wait for it
   * @return on the caller's context; fails with what the task throws, or OVERLOADED if too many
   *     wait
   */
  public <T> Future<T> run(@Nullable String user, long bytes, Callable<T> task) {
    return turns.run(user, bytes, () -> onThread(task));
  }

  private <T> Future<T> onThread(Callable<T> task) {
    Promise<T> promise = Promise.promise();
    threads.execute(
        () -> {
          try {
            promise.complete(task.call());
          } catch (Throwable e) {
            promise.fail(e);
          }
        });
    return promise.future();
  }
}
