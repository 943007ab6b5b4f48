package dev.evenkeel.bus.rate;

import dev.evenkeel.protocol.Quota;
import dev.evenkeel.util.TokenBucket;

/**
 * How fast a program may go on while it does not reach the coordinator of rates: as fast as it was
 * granted time lately, and at least at a tenth of the quota. The shares of all programs together
 * are about the quota.
 *
 * <p>{@code now} is a monotonic clock in nanoseconds. Not thread-safe.
 */
public final class OwnShare {
  /** Grants count less and less with their age. */
  private static final double WINDOW_NANOS = 2e9;

  private static final double SHARE_MIN = 0.1;

  /** While it is alone, it looks for the coordinator this often. */
  private static final long LOOK_NANOS = 500_000_000;

  /** An answer is not awaited for longer. */
  private static final long WAITED_NANOS = 1_000_000_000;

  private double sumNanos;
  private long atNanos;
  private Quota quota;
  private boolean alone;

  /** While alone. */
  private double frozen;

  private long paidAtNanos;
  private long lookAtNanos;

  private static long cost(Quota quota, long bytes, long messages) {
    return Math.max(quota.bytesNanos(bytes), quota.messagesNanos(messages));
  }

  /** The coordinator has answered; {@code bytes} and {@code messages} were granted. */
  public void heard(long now, Quota of, long bytes, long messages) {
    if (!of.equals(quota)) {
      quota = of;
      sumNanos = 0;
    }
    if (alone) {
      alone = false;
      sumNanos = frozen * WINDOW_NANOS;
      atNanos = now;
    }
    sumNanos = decayed(now) + cost(of, bytes, messages);
    atNanos = now;
  }

  private double decayed(long now) {
    return sumNanos * Math.exp((atNanos - now) / WINDOW_NANOS);
  }

  /** The coordinator does not answer. */
  public void lost(long now) {
    if (!alone) {
      // The time for which it waited for the answer does not count.
      frozen = share(Math.max(atNanos, now - WAITED_NANOS));
      alone = true;
      paidAtNanos = now;
    }
    lookAtNanos = now + LOOK_NANOS;
  }

  public boolean alone() {
    return alone;
  }

  /** Whether to look for the coordinator again. */
  public boolean lookDue(long now) {
    return alone && now >= lookAtNanos;
  }

  /** It is looking for the coordinator now. */
  public void looking(long now) {
    lookAtNanos = now + LOOK_NANOS;
  }

  /** The quota of the last answer; null: there was none. */
  public Quota quota() {
    return quota;
  }

  /** The part of the quota that it was granted lately, 0.1 to 1. */
  public double share(long now) {
    return alone ? frozen : Math.max(SHARE_MIN, Math.min(1, decayed(now) / WINDOW_NANOS));
  }

  /** While it is alone: spends some of its share, and says after how long that may be done. */
  public long spendNanos(long now, Quota of, long bytes, long messages) {
    long start = Math.max(now, paidAtNanos);
    long nanos = (long) Math.ceil(cost(of, bytes, messages) / share(now));
    paidAtNanos = TokenBucket.OF_TIME.taken(paidAtNanos, now, nanos);
    return start - now;
  }
}
