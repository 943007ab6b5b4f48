package dev.evenkeel.producer;

import io.vertx.core.Vertx;

/** One timer, set for the earliest time that was asked for. Used on one context. */
final class WakeTimer {
  private final Vertx vertx;
  private final Runnable onWake;
  private long timer = -1;
  private long timerAtMillis = Long.MAX_VALUE;

  WakeTimer(Vertx vertx, Runnable onWake) {
    this.vertx = vertx;
    this.onWake = onWake;
  }

  /**
   * @param atMillis by the same monotonic clock as {@code nowMillis}; {@code Long.MAX_VALUE}: never
   */
  void wakeAt(long atMillis, long nowMillis) {
    if (atMillis >= timerAtMillis || atMillis == Long.MAX_VALUE) {
      return;
    }
    cancel();
    timerAtMillis = atMillis;
    timer =
        vertx.setTimer(
            Math.max(1, atMillis - nowMillis),
            id -> {
              timer = -1;
              timerAtMillis = Long.MAX_VALUE;
              onWake.run();
            });
  }

  void cancel() {
    if (timer >= 0) {
      vertx.cancelTimer(timer);
    }
  }
}
