package dev.evenkeel.client.internal.member;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A count that grows every {@value #STEP_MILLIS} ms while there are consumers. A thread of its own
 * counts, which no handler can hold up. To look at the count costs next to nothing: whoever finds
 * it changed reads the clock.
 */
final class ClockTicks {
  static final long STEP_MILLIS = 5;

  private static final Object LOCK = new Object();
  private static int users;
  private static boolean counting;
  private static volatile int count;

  private ClockTicks() {}

  static int count() {
    return count;
  }

  /** Counting goes on until each user has called {@link #end}. */
  static void begin() {
    synchronized (LOCK) {
      users++;
      if (!counting) {
        counting = true;
        Thread thread = new Thread(ClockTicks::run, "evenkeel-clock-ticks");
        thread.setDaemon(true);
        thread.start();
      }
    }
  }

  static void end() {
    synchronized (LOCK) {
      users--;
    }
  }

  private static void run() {
    int ticks = count;
    while (isUsed()) {
      count = ++ticks;
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(STEP_MILLIS));
    }
  }

  private static boolean isUsed() {
    synchronized (LOCK) {
      counting = users > 0;
      return counting;
    }
  }
}
