package dev.evenkeel.client.internal.produce;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Repeats a call while its failure is one that may pass, with a pause, until its time is over. */
public final class Retry {
  private static final long PAUSE_MILLIS = 100;

  private final Vertx vertx;
  private final BooleanSupplier stopped;
  private final Runnable beforeAnother;

  /**
   * @param stopped no further try once it says so
   * @param beforeAnother what may help the next try
   */
  public Retry(Vertx vertx, BooleanSupplier stopped, Runnable beforeAnother) {
    this.vertx = vertx;
    this.stopped = stopped;
    this.beforeAnother = beforeAnother;
  }

  /**
   * @param untilNanos by {@link System#nanoTime()}; the last failure passes on after it
   */
  public <R> Future<R> until(long untilNanos, Supplier<Future<R>> call) {
    Promise<R> promise = Promise.promise();
    attempt(untilNanos, call, promise);
    return promise.future();
  }

  private <R> void attempt(long untilNanos, Supplier<Future<R>> call, Promise<R> promise) {
    call.get()
        .onSuccess(promise::complete)
        .onFailure(
            failure -> {
              boolean again =
                  failure instanceof RefusedException refused && refused.refusal().retriable();
              if (stopped.getAsBoolean() || !again || System.nanoTime() - untilNanos > 0) {
                promise.fail(failure);
                return;
              }
              if (leaderNamedBy(failure) == null) {
                beforeAnother.run();
              }
              vertx.setTimer(PAUSE_MILLIS, id -> attempt(untilNanos, call, promise));
            });
  }

  /** The leader that a refusal names, or null. */
  static String leaderNamedBy(Throwable failure) {
    if (failure instanceof RefusedException refused
        && refused.refusal() == Refusal.NOT_LEADER
        && refused.getMessage() != null
        && !refused.getMessage().isEmpty()) {
      return refused.getMessage();
    }
    return null;
  }
}
