package dev.evenkeel.client.internal.member;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * A count that grows every {@value #STEP_MILLIS} ms while somebody uses it. A thread of its own
 * counts, which no handler can hold up. To look at the count costs next to nothing: whoever finds
 * it changed reads the clock.
 */
final class ClockTicks {
  static final long STEP_MILLIS = 5;

  /** After this many steps without a user the thread ends. */
  private static final int UNUSED_MAX = 20;

  /** There is a thread. */
  private static final AtomicBoolean THREAD = new AtomicBoolean();

  /** Somebody has used the count since the last step. */
  private static final AtomicBoolean USED = new AtomicBoolean();

  private static volatile boolean counting;
  private static volatile int count;

  private ClockTicks() {}

  static int count() {
    return count;
  }

  /**
   * Whether the count grows. It then does so at least once more before it stops, whatever happens.
   * If it does not, it soon will.
   */
  static boolean use() {
    if (!USED.get()) {
      USED.set(true);
    }
    if (!counting && THREAD.compareAndSet(false, true)) {
      Thread thread = new Thread(ClockTicks::run, "evenkeel-clock-ticks");
      thread.setDaemon(true);
      thread.start();
    }
    return counting;
  }

  private static void run() {
    int ticks = count;
    int unused = 0;
    while (unused < UNUSED_MAX) {
      counting = true;
      count = ++ticks;
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(STEP_MILLIS));
      unused = USED.getAndSet(false) ? 0 : unused + 1;
      if (unused == UNUSED_MAX) {
        counting = false;
        // Somebody may have seen just before that it counts.
        unused = USED.get() ? 0 : unused;
      }
    }
    THREAD.set(false);
  }
}
