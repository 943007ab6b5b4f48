package dev.evenkeel.dedup;

/**
 * How long a process may rely on its claims: for a while after it <em>sent</em> a question that the
 * cluster has answered. What it read last says nothing: a process that hung reads answers and
 * messages that came long ago, and its keys may be with others by then. Safe for use from several
 * threads.
 *
 * <p>All times are monotonic and in milliseconds.
 */
public final class Lease {
  /** Longest time after the question. */
  private static final long SILENT_MILLIS_MAX = 5_000;

  private static final long ASK_MILLIS_MAX = 1_000;

  /** So many questions fit into that time: all but one may be lost. */
  private static final int QUESTIONS = 5;

  private static final long NEVER = Long.MIN_VALUE / 2;

  private long sentMillis = NEVER;
  private long askedMillis = NEVER;

  /** Grows when a question was sent after the lease had ended. */
  private long number;

  /**
   * How long a process may rely on its claims if the cluster gives it up after this silence: two
   * thirds of that, at most 5 s.
   */
  public static long silentMillisMax(long givenUpMillis) {
    return Math.min(SILENT_MILLIS_MAX, givenUpMillis * 2 / 3);
  }

  /** Whether it is time to ask. If so, the caller does. */
  synchronized boolean asks(long nowMillis, long silentMillisMax) {
    boolean asks = nowMillis - askedMillis >= Math.min(ASK_MILLIS_MAX, silentMillisMax / QUESTIONS);
    if (asks) {
      askedMillis = nowMillis;
    }
    return asks;
  }

  /**
   * A question that was sent then has been answered.
   *
   * @return the number of the lease
   */
  synchronized long answered(long questionSentMillis, long silentMillisMax) {
    if (questionSentMillis - sentMillis >= silentMillisMax) {
      number++;
    }
    sentMillis = Math.max(sentMillis, questionSentMillis);
    return number;
  }

  /** Whether the lease of this number holds. Once it has ended, it never holds again. */
  synchronized boolean holds(long of, long nowMillis, long silentMillisMax) {
    return of == number && nowMillis - sentMillis < silentMillisMax;
  }
}
