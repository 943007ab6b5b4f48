package dev.evenkeel.level;

import io.vertx.core.Promise;
import java.util.ArrayDeque;

/**
 * Completes promises one after another on the calling thread. A handler that steps may allow the
 * step of another waiter, whose handler steps in turn. If the calls were nested, two tracks alone
 * would fill the stack.
 */
final class Completions {
  private static final ThreadLocal<Completions> OF_THREAD =
      ThreadLocal.withInitial(Completions::new);

  private final ArrayDeque<Promise<Void>> due = new ArrayDeque<>();
  private boolean running;

  private Completions() {}

  /** Completes {@code promise}: now, or when the handler that runs on this thread has returned. */
  static void complete(Promise<Void> promise) {
    Completions completions = OF_THREAD.get();
    completions.due.add(promise);
    if (!completions.running) {
      completions.run();
    }
  }

  private void run() {
    running = true;
    try {
      for (Promise<Void> each = due.poll(); each != null; each = due.poll()) {
        each.tryComplete();
      }
    } finally {
      running = false;
    }
  }
}
