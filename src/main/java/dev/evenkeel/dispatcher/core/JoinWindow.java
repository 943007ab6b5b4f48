package dev.evenkeel.dispatcher.core;

/**
 * Collects members that come in a burst, so that they make one plan: it is over when none has come
 * for {@code quietMillis}, and at most {@code waitMillisMax} after the first.
 */
final class JoinWindow {
  private final long quietMillis;
  private final long waitMillisMax;
  private boolean open;
  private long firstMillis;
  private long lastMillis;

  JoinWindow(long quietMillis, long waitMillisMax) {
    this.quietMillis = quietMillis;
    this.waitMillisMax = waitMillisMax;
  }

  void joined(long nowMillis) {
    if (!open) {
      open = true;
      firstMillis = nowMillis;
    }
    lastMillis = nowMillis;
  }

  /** When it is over if nobody else comes. */
  long endMillis() {
    return Math.min(lastMillis + quietMillis, firstMillis + waitMillisMax);
  }

  /** Whether somebody came and the time of waiting is over. */
  boolean over(long nowMillis) {
    return open && nowMillis >= endMillis();
  }

  void close() {
    open = false;
  }
}
