package dev.evenkeel.client.internal.member;

import io.vertx.core.Handler;

/** What the application wants to hear of a consumer. All calls come on the consumer's context. */
final class ApplicationEvents {
  /** Calls user code that must not break ours. */
  interface Safely {
    void call(String what, Runnable call);
  }

  private final Safely safely;
  private Handler<Throwable> endHandler;
  private Handler<Integer> assignmentHandler;
  private Throwable end;

  ApplicationEvents(Safely safely) {
    this.safely = safely;
  }

  /** Who comes after the end is told at once. */
  void onEnd(Handler<Throwable> handler) {
    endHandler = handler;
    tellEnd();
  }

  /**
   * @param owned shards that the consumer owns now
   */
  void onAssignment(Handler<Integer> handler, int owned) {
    assignmentHandler = handler;
    if (owned > 0) {
      assigned(owned);
    }
  }

  void assigned(int owned) {
    Handler<Integer> handler = assignmentHandler;
    if (handler != null) {
      safely.call("the assignment handler", () -> handler.handle(owned));
    }
  }

  void ended(Throwable cause) {
    end = cause;
    tellEnd();
  }

  private void tellEnd() {
    Handler<Throwable> handler = endHandler;
    Throwable cause = end;
    if (handler != null && cause != null) {
      safely.call("the end handler", () -> handler.handle(cause));
    }
  }
}
