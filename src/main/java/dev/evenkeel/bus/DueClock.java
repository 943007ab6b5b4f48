package dev.evenkeel.bus;

import dev.evenkeel.util.MonotonicClock;
import java.util.function.LongSupplier;

/**
 * The clock by which delayed messages are due: that of the cluster, as a program knows it from the
 * answers of nodes. It is never behind, so that no message is early; it may be ahead by as long as
 * an answer was under way. Until a node has answered, it is the program's own clock. Safe for use
 * from several threads.
 */
public final class DueClock {
  /** In this time two clocks drift apart by less than a millisecond. */
  private static final long DRIFT_MILLIS = 1_000;

  private final LongSupplier clockMillis;
  private final LongSupplier steadyMillis;

  private boolean known;

  /** By how much the cluster's clock is ahead of this machine's monotonic one, at most. */
  private long aheadMillis;

  /** By how much less it may be. */
  private long vagueMillis;

  private long learnedMillis;

  public DueClock() {
    this(System::currentTimeMillis, MonotonicClock::millis);
  }

  /**
   * @param clockMillis the program's own clock, milliseconds since 1970
   * @param steadyMillis a monotonic clock
   */
  DueClock(LongSupplier clockMillis, LongSupplier steadyMillis) {
    this.clockMillis = clockMillis;
    this.steadyMillis = steadyMillis;
  }

  /** A monotonic clock of this machine. */
  public long steadyMillis() {
    return steadyMillis.getAsLong();
  }

  /**
   * A node has answered. What a quick answer taught stays true for a while, and a slow answer does
   * not spoil it, unless the clock was set meanwhile.
   *
   * @param nodeMillis the cluster's time when the node answered
   * @param askedMillis {@link #steadyMillis} before the question
   */
  public synchronized void learn(long nodeMillis, long askedMillis) {
    long now = steadyMillis();
    long atMost = nodeMillis - askedMillis;
    long atLeast = nodeMillis - now;
    long drift = (now - learnedMillis) / DRIFT_MILLIS + 1;
    boolean agrees = atLeast - drift <= aheadMillis && aheadMillis - vagueMillis - drift <= atMost;
    if (!known || !agrees || atMost - atLeast <= vagueMillis + drift) {
      aheadMillis = atMost;
      vagueMillis = atMost - atLeast;
      learnedMillis = now;
      known = true;
    }
  }

  /** Milliseconds since 1970. */
  public synchronized long millis() {
    return known ? steadyMillis() + aheadMillis : clockMillis.getAsLong();
  }
}
