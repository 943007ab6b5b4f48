package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.EventLoops;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;

/** The one context on which everything of a consumer happens. */
final class OwnContext {
  private final ContextInternal context;

  /** The caller's event-loop context if it belongs to {@code vertx}, else a new one. */
  OwnContext(Vertx vertx) {
    Context current = Vertx.currentContext();
    context =
        current != null && current.isEventLoopContext() && current.owner() == vertx
            ? ((ContextInternal) current).unwrap()
            : EventLoops.forHandlers(vertx);
  }

  /** The Vert.x context. */
  ContextInternal vertx() {
    return context;
  }

  /**
   * Runs {@code action} on the context: now if this is it. A duplicate of it belongs to one
   * message, and is left for that.
   */
  void run(Runnable action) {
    if (context.isRunningOnContext()) {
      action.run();
    } else if (isOurs(ContextInternal.current())) {
      context.dispatch(action);
    } else {
      later(action);
    }
  }

  /** Runs {@code action} on the context, after the event loop had its turn. */
  void later(Runnable action) {
    context.runOnContext(ignored -> action.run());
  }

  /**
   * Whether {@code current} is our context or a duplicate of it, which runs on the same event loop.
   */
  private boolean isOurs(ContextInternal current) {
    return current != null && current.unwrap() == context && current.inThread();
  }
}
