package dev.evenkeel.bus;

import io.vertx.core.Vertx;

/** A timer for the earliest of the times asked for. For use on one context. */
public final class WakeTimer {
  private final Vertx vertx;
  private final Runnable onWake;
  private long timer = -1;
  private long timerAtMillis = Long.MAX_VALUE;

  /**
   * @param onWake runs when it is time, and may ask for the next time
   */
  public WakeTimer(Vertx vertx, Runnable onWake) {
    this.vertx = vertx;
    this.onWake = onWake;
  }

  /**
   * @param atMillis by the same monotonic clock as {@code nowMillis}; {@code Long.MAX_VALUE}: never
   */
  public void wakeAt(long atMillis, long nowMillis) {
    if (atMillis >= timerAtMillis) {
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

  public void cancel() {
    if (timer >= 0) {
      vertx.cancelTimer(timer);
    }
    timer = -1;
    timerAtMillis = Long.MAX_VALUE;
  }
}
