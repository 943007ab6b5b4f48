package dev.evenkeel.client.internal.member;

import dev.evenkeel.client.internal.consume.ElapsedTime;

/** The clock of consumers, see {@link ElapsedTime}. The core gets its time as an argument. */
final class Clock {
  /** If reading both clocks took longer, the thread was held up in between, and only one counts. */
  private static final long TOGETHER_NANOS_MAX = 10_000_000;

  private static final ElapsedTime TIME =
      new ElapsedTime(System.nanoTime(), System.currentTimeMillis());

  private Clock() {}

  static long millis() {
    return nanos() / 1_000_000;
  }

  static long nanos() {
    long before = System.nanoTime();
    long wall = System.currentTimeMillis();
    long after = System.nanoTime();
    return after - before > TOGETHER_NANOS_MAX ? TIME.nanos(after) : TIME.nanos(after, wall);
  }
}
