package dev.evenkeel.broker.quota;

import dev.evenkeel.bus.rate.Reservation;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.util.TokenBucket;
import java.util.HashMap;
import java.util.Map;

/**
 * Gives out the time of all quotas of the cluster: the virtual scheduling form of the generic cell
 * rate algorithm (ITU-T Recommendation I.371, annex A). Each limit keeps one number, the
 * theoretical arrival time: when all that was granted is paid for. A grant starts at that time and
 * pushes it by its own cost. So in any time t, grants for at most {@code rate × (t + }{@link
 * #BURST_NANOS}{@code )} and one more begin, whoever asks for them and however many ask.
 *
 * <p>A grant is never divided: one that costs more than a second is given when its time comes, and
 * the next one waits the longer. Nodes ask for what appends cost in small parts, see {@link
 * QuotaGate}.
 *
 * <p>There is one of these in the cluster at a time, on the node that leads the meta log group. It
 * keeps nothing on disk. A new one gives out no time from before it began, so a change of leaders
 * never makes a burst.
 *
 * <p>No clock and no I/O: {@code now} is a monotonic clock in nanoseconds. Not thread-safe.
 */
public final class RateReservations {
  /** How much unused time a limit keeps. */
  public static final long BURST_NANOS = 250_000_000;

  private static final class Account {
    Quota quota;
    long bytesPaidAt;
    long messagesPaidAt;
    final Usage bytes = new Usage();
    final Usage messages = new Usage();

    Account(Quota quota, long now) {
      this.quota = quota;
      bytesPaidAt = now;
      messagesPaidAt = now;
    }

    long paidAt() {
      return Math.max(
          quota.bytesPerSecond() > 0 ? bytesPaidAt : Long.MIN_VALUE,
          quota.messages() > 0 ? messagesPaidAt : Long.MIN_VALUE);
    }

    void pay(long from, long ofBytes, long ofMessages) {
      bytesPaidAt = TokenBucket.OF_TIME.taken(bytesPaidAt, from, quota.bytesNanos(ofBytes));
      messagesPaidAt =
          TokenBucket.OF_TIME.taken(messagesPaidAt, from, quota.messagesNanos(ofMessages));
    }

    /** What is not paid yet is paid at the new rate, unless it would take longer. */
    void change(Quota next, long now) {
      bytesPaidAt = scaled(bytesPaidAt, now, quota.bytesNanos(SCALE), next.bytesNanos(SCALE));
      messagesPaidAt =
          scaled(messagesPaidAt, now, quota.messagesNanos(SCALE), next.messagesNanos(SCALE));
      quota = next;
    }

    private static long scaled(long paidAt, long now, long before, long after) {
      if (before == 0 || after == 0) {
        // There was no account, or there is none any more.
        return now;
      }
      if (paidAt <= now) {
        return paidAt;
      }
      return after >= before
          ? paidAt
          : now + (long) Math.ceil((double) (paidAt - now) * after / before);
    }
  }

  /** So that rounding does not matter when two rates are compared. */
  private static final long SCALE = 1_000;

  private final Map<Quota.Key, Account> accounts = new HashMap<>();
  private final long begunNanos;

  /**
   * @param nowNanos when it began
   */
  public RateReservations(long nowNanos) {
    begunNanos = nowNanos;
  }

  /**
   * Grants time, or says when to ask again.
   *
   * @param quota as it is now; it may be another one than before
   * @param bytes to be spent; 0 is possible
   * @param messages to be spent; 0 is possible
   * @param waitNanosMax grants nothing that starts later than after this time
   */
  public Reservation reserve(long now, Quota quota, long bytes, long messages, long waitNanosMax) {
    Account account = accounts.get(quota.key());
    if (account == null) {
      forgetIdle(now);
      account = new Account(quota, Math.max(begunNanos, now - BURST_NANOS));
      accounts.put(quota.key(), account);
    } else if (!account.quota.equals(quota)) {
      account.change(quota, now);
    }
    long wait = Math.max(0, account.paidAt() - now);
    if (wait > waitNanosMax) {
      return new Reservation(false, wait, wait, quota);
    }
    account.pay(now - BURST_NANOS, bytes, messages);
    account.bytes.add(now, bytes);
    account.messages.add(now, messages);
    return new Reservation(true, wait, Math.max(0, account.paidAt() - now), quota);
  }

  /** Full accounts are as good as new ones. There are as many others as there are quotas. */
  private void forgetIdle(long now) {
    if (accounts.size() >= Quota.QUOTAS_MAX) {
      accounts.values().removeIf(account -> account.paidAt() <= now - BURST_NANOS);
    }
  }

  /** Forgets a quota that was removed. */
  public void forget(Quota.Key key) {
    accounts.remove(key);
  }

  /** Bytes per second that were granted lately. */
  public double bytesPerSecond(Quota.Key key, long now) {
    Account account = accounts.get(key);
    return account == null ? 0 : account.bytes.perSecond(now);
  }

  /** Messages per second that were granted lately. */
  public double messagesPerSecond(Quota.Key key, long now) {
    Account account = accounts.get(key);
    return account == null ? 0 : account.messages.perSecond(now);
  }

  /** A moving average: what lies a time back counts less and less. */
  private static final class Usage {
    private static final double WINDOW_NANOS = 5e9;

    private double sum;
    private long atNanos;

    void add(long now, long amount) {
      sum = decayed(now) + amount;
      atNanos = now;
    }

    private double decayed(long now) {
      return sum == 0 ? 0 : sum * Math.exp((atNanos - now) / WINDOW_NANOS);
    }

    double perSecond(long now) {
      return decayed(now) / (WINDOW_NANOS / 1e9);
    }
  }
}
