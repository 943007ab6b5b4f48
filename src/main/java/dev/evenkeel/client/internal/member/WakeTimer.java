package dev.evenkeel.client.internal.member;

import io.vertx.core.Vertx;

/** One timer for the next time at which something is due; none while nothing is. */
final class WakeTimer {
  private static final long NONE = -1;

  private final Vertx vertx;
  private final Runnable wake;
  private long timer = NONE;
  private long setMillis = Long.MAX_VALUE;

  /**
   * @param wake is run when it is time, and says when the next is
   */
  WakeTimer(Vertx vertx, Runnable wake) {
    this.vertx = vertx;
    this.wake = wake;
  }

  /**
   * @param dueMillis monotonic; {@link Long#MAX_VALUE}: nothing is due
   */
  void at(long dueMillis, long now) {
    if (dueMillis == setMillis) {
      return;
    }
    end();
    if (dueMillis == Long.MAX_VALUE) {
      return;
    }
    setMillis = dueMillis;
    timer =
        vertx.setTimer(
            Math.max(1, dueMillis - now),
            id -> {
              timer = NONE;
              setMillis = Long.MAX_VALUE;
              wake.run();
            });
  }

  void end() {
    if (timer != NONE) {
      vertx.cancelTimer(timer);
    }
    timer = NONE;
    setMillis = Long.MAX_VALUE;
  }
}
