package dev.evenkeel.bench;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Bounds the unacknowledged messages of one thread. A full thread goes on when half of the bound is
 * free, so that it does not wake up for each message.
 */
final class InFlight implements Target.Done {
  private static final long LOOK_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final long messagesMax;
  private final AtomicLong messages = new AtomicLong();
  private final LongAdder failed = new LongAdder();
  private volatile Throwable firstFailure;
  private volatile Thread waiting;

  InFlight(long messagesMax) {
    this.messagesMax = Math.max(1, messagesMax);
  }

  /** Counts one message that is about to be sent; waits first if there are too many. */
  void sending() {
    if (messages.incrementAndGet() > messagesMax) {
      awaitAtMost(messagesMax / 2, Long.MAX_VALUE);
    }
  }

  @Override
  public void done(Throwable failure) {
    if (failure != null) {
      failed.increment();
      if (firstFailure == null) {
        firstFailure = failure;
      }
    }
    long left = messages.decrementAndGet();
    Thread thread = waiting;
    if (thread != null && left <= messagesMax / 2) {
      LockSupport.unpark(thread);
    }
  }

  /**
   * Waits for all answers.
   *
   * @return whether all came in time
   */
  boolean awaitAll(long nanosMax) {
    return awaitAtMost(0, nanosMax);
  }

  private boolean awaitAtMost(long most, long nanosMax) {
    long begin = System.nanoTime();
    waiting = Thread.currentThread();
    try {
      while (messages.get() > most) {
        if (System.nanoTime() - begin >= nanosMax || Thread.currentThread().isInterrupted()) {
          return false;
        }
        LockSupport.parkNanos(this, LOOK_AGAIN_NANOS);
      }
      return true;
    } finally {
      waiting = null;
    }
  }

  long unanswered() {
    return messages.get();
  }

  long failed() {
    return failed.sum();
  }

  Throwable firstFailure() {
    return firstFailure;
  }
}
