package dev.evenkeel.util;

/** The clock of this machine that never goes back: for durations, not for dates. */
public final class MonotonicClock {
  private MonotonicClock() {}

  /** Milliseconds since some moment, the same one as long as the process runs. */
  public static long millis() {
    return System.nanoTime() / 1_000_000;
  }
}
