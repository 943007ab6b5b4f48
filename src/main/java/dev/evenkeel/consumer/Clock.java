package dev.evenkeel.consumer;

/** The monotonic clock of the shell; the core gets its time as an argument. */
final class Clock {
  private Clock() {}

  static long millis() {
    return System.nanoTime() / 1_000_000;
  }
}
