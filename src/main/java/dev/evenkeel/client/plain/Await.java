package dev.evenkeel.client.plain;

import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.concurrent.ExecutionException;

/** Waits for futures. */
final class Await {
  private Await() {}

  /**
   * Waits for the result.
   *
   * @throws IllegalStateException on an event loop, which would wait for itself
   */
  static <T> T on(Future<T> future) throws InterruptedException {
    if (Context.isOnEventLoopThread()) {
      throw new IllegalStateException(
          "this method waits, and must not be called on an event loop: use the methods of"
              + " EvenkeelClient there");
    }
    try {
      return future.toCompletionStage().toCompletableFuture().get();
    } catch (ExecutionException e) {
      throw RefusedException.of(e.getCause());
    }
  }

  /** Waits until something is closed, which goes on if the thread is interrupted. */
  static void onClose(Future<Void> closed) {
    try {
      on(closed);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
