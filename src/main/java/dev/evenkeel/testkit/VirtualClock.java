package dev.evenkeel.testkit;

import dev.evenkeel.level.Alarm;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.PriorityQueue;
import java.util.function.LongSupplier;

/**
 * A clock that a test moves, with the timers that depend on it: for the algorithms that take their
 * time from outside, {@link dev.evenkeel.level.Coordinators} and {@link
 * dev.evenkeel.dedup.LocalCoordinator}. It starts at 0.
 *
 * <pre>{@code
 * VirtualClock clock = new VirtualClock();
 * Coordinator level = Coordinators.coordinator(Range.of(10), 5_000, clock::nanos, clock);
 * clock.advance(Duration.ofSeconds(6));
 * }</pre>
 *
 * <p>May be used from any thread. Nodes and clients keep the time of the machine.
 */
public final class VirtualClock implements Alarm, LongSupplier {
  private record Timer(long atNanos, long order, Runnable what) {}

  private final PriorityQueue<Timer> timers =
      new PriorityQueue<>(
          (a, b) ->
              a.atNanos != b.atNanos
                  ? Long.compare(a.atNanos, b.atNanos)
                  : Long.compare(a.order, b.order));

  private long nowNanos;
  private long timersMade;

  /** The time since the clock was made, in nanoseconds, like {@link System#nanoTime}. */
  public synchronized long nanos() {
    return nowNanos;
  }

  /** The same as {@link #nanos}. */
  @Override
  public long getAsLong() {
    return nanos();
  }

  /** The time since the clock was made, in milliseconds. */
  public long millis() {
    return Duration.ofNanos(nanos()).toMillis();
  }

  @Override
  public synchronized void in(long delayMillis, Runnable what) {
    long at = nowNanos + Duration.ofMillis(Math.max(0, delayMillis)).toNanos();
    timers.add(new Timer(at, timersMade++, what));
  }

  /**
   * Lets time pass. Timers that become due run here, each at its time, one after another; those
   * that they set run, too, if they become due.
   *
   * @throws IllegalArgumentException if it is negative
   */
  public void advance(Duration by) {
    if (by.isNegative()) {
      throw new IllegalArgumentException("time does not go back: " + by);
    }
    long end;
    synchronized (this) {
      end = nowNanos + by.toNanos();
    }
    for (Deque<Runnable> due = due(end); !due.isEmpty(); due = due(end)) {
      due.remove().run();
    }
    synchronized (this) {
      nowNanos = Math.max(nowNanos, end);
    }
  }

  /** The next timer that is due by then, at its time; none if there is none. */
  private synchronized Deque<Runnable> due(long endNanos) {
    Deque<Runnable> due = new ArrayDeque<>(1);
    Timer next = timers.peek();
    if (next != null && next.atNanos <= endNanos) {
      timers.remove();
      nowNanos = Math.max(nowNanos, next.atNanos);
      due.add(next.what);
    }
    return due;
  }
}
