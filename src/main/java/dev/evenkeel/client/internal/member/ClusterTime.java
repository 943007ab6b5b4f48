package dev.evenkeel.client.internal.member;

/**
 * The clock of the cluster, as a program outside of it knows it from the answers of nodes. It may
 * be late by the time that an answer was under way, but it is not early, apart from the small
 * differences between nodes. Safe for use from several threads.
 */
final class ClusterTime {
  /**
   * In this time two clocks drift apart by less than a millisecond. So what a quick answer taught
   * stays true for a while, and a slow answer does not spoil it.
   */
  private static final long DRIFT_MILLIS = 1_000;

  /** No answer is so late: the clock of the cluster was set back. */
  private static final long SET_BACK_MILLIS = 60_000;

  private boolean known;
  private long aheadMillis;
  private long learnedMillis;

  /**
   * A node has answered.
   *
   * @param clusterMillis time of the cluster's clock when it did
   * @param nowMillis when the answer came, by the clock of this program
   */
  synchronized void learn(long clusterMillis, long nowMillis) {
    long lateMillis = millis(nowMillis) - clusterMillis;
    if (!known || lateMillis <= 0 || lateMillis > SET_BACK_MILLIS) {
      aheadMillis = clusterMillis - nowMillis;
      learnedMillis = nowMillis;
      known = true;
    }
  }

  synchronized boolean known() {
    return known;
  }

  /** The time of the cluster's clock; of no use until it is {@link #known}. */
  synchronized long millis(long nowMillis) {
    return nowMillis + aheadMillis - (nowMillis - learnedMillis) / DRIFT_MILLIS;
  }
}
