package dev.evenkeel.bus.share;

import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Begins tasks in the {@link Turns} of users, a few at a time, and one of each user. Safe for use
 * from any thread.
 */
public final class UserTurns {
  private final Vertx vertx;
  private final String what;
  private final int atOnceMax;
  private final Turns<Task<?>> turns;
  private int underWay;

  private record Task<T>(Supplier<Future<T>> begin, Promise<T> promise) {}

  /**
   * @param what they are, in plural, for errors
   * @param atOnceMax most tasks under way
   * @param waitingMax most tasks that wait
   * @param waitingBytesMax most bytes of tasks that wait
   * @param weights the share of each user, see {@link FairShare}
   */
  public UserTurns(
      Vertx vertx,
      String what,
      int atOnceMax,
      int waitingMax,
      long waitingBytesMax,
      ToDoubleFunction<String> weights) {
    this.vertx = vertx;
    this.what = what;
    this.atOnceMax = atOnceMax;
    turns = new Turns<>(waitingMax, waitingBytesMax, weights);
  }

  /**
   * Begins the task when it has its turn.
   *
   * @param user null: unknown
   * @param bytes that it takes while it waits
   * @return on the caller's context; fails OVERLOADED if too many wait
   */
  public <T> Future<T> run(@Nullable String user, long bytes, Supplier<Future<T>> begin) {
    Promise<T> promise = Promise.promise();
    boolean fits;
    synchronized (this) {
      fits = turns.add(user, new Task<>(begin, promise), bytes);
    }
    if (!fits) {
      return Future.failedFuture(
          Refusal.OVERLOADED.error(
              "too many %s%s wait on this node: send one after another",
              what, user == null ? "" : " of the user '" + user + "'"));
    }
    // The task may be completed by another thread.
    Promise<T> here = promiseHere();
    promise.future().onComplete(here);
    pump();
    return here.future();
  }

  private <T> Promise<T> promiseHere() {
    return ((ContextInternal) vertx.getOrCreateContext()).promise();
  }

  private void pump() {
    while (true) {
      Turns.Turn<Task<?>> next;
      synchronized (this) {
        next = underWay < atOnceMax ? turns.next() : null;
        if (next == null) {
          return;
        }
        underWay++;
      }
      begin(next, next.task());
    }
  }

  private <T> void begin(Turns.Turn<Task<?>> turn, Task<T> task) {
    long sinceNanos = System.nanoTime();
    Future<T> running;
    try {
      running = task.begin().get();
    } catch (RuntimeException e) {
      running = Future.failedFuture(e);
    }
    running.onComplete(
        done -> {
          synchronized (this) {
            underWay--;
            turns.spent(turn, System.nanoTime() - sinceNanos);
          }
          task.promise().handle(done);
          pump();
        });
  }
}
