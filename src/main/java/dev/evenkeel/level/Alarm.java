package dev.evenkeel.level;

/** Runs something once, later, on a thread of its own choice. */
@FunctionalInterface
public interface Alarm {
  /**
   * Runs {@code what} once when {@code delayMillis} have passed. It must not run it before it
   * returns.
   */
  void in(long delayMillis, Runnable what);
}
