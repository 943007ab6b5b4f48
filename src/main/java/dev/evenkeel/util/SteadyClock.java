package dev.evenkeel.util;

/**
 * Milliseconds since 1970 that never go back or jump: the wall clock when this was made, plus what
 * has passed since. So a correction of the wall clock does not make members look dead.
 */
public final class SteadyClock {
  private final long wallMillis = System.currentTimeMillis();
  private final long nanos = System.nanoTime();

  public long millis() {
    return wallMillis + (System.nanoTime() - nanos) / 1_000_000;
  }
}
