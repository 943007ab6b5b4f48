package dev.evenkeel.broker.serve;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Lets few looks of filters run at a time, in the order in which they came: each of them holds up
 * to 1 MiB of messages.
 *
 * <p>Runs on one context.
 */
final class LookQueue {
  private static final int AT_ONCE_MAX = 2;

  private final Deque<Runnable> waiting = new ArrayDeque<>();
  private int running;

  /**
   * Runs a look when it is its turn.
   *
   * @param wanted whether anybody still wants it then; if not, the future never completes
   */
  <T> Future<T> run(BooleanSupplier wanted, Supplier<Future<T>> look) {
    Promise<T> promise = Promise.promise();
    waiting.add(
        () -> {
          if (!wanted.getAsBoolean()) {
            return;
          }
          running++;
          Future<T> found;
          try {
            found = look.get();
          } catch (RuntimeException refused) {
            found = Future.failedFuture(refused);
          }
          found.onComplete(
              done -> {
                running--;
                promise.handle(done);
                next();
              });
        });
    next();
    return promise.future();
  }

  private void next() {
    while (running < AT_ONCE_MAX && !waiting.isEmpty()) {
      waiting.remove().run();
    }
  }
}
