package dev.evenkeel.cluster;

/**
 * The time of the cluster's clock without the jumps of this machine's own clock. Hazelcast adds to
 * that one how far the oldest member's clock is ahead of it. {@link HazelcastClock} never jumps,
 * but an application may have made its Hazelcast instance itself. If the wall clock is set there,
 * the time of the cluster is wrong until Hazelcast corrects it, and keys would be taken from claims
 * that still rely on them. A jump that lasts is one of the oldest member's clock, and is followed.
 *
 * <p>Safe for use from several threads.
 */
final class SteadyTime {
  /**
   * A smaller difference is followed at once: the process may have been suspended, and its
   * monotonic clock with it. After a longer one it is no member any more.
   */
  static final long JUMP_MILLIS_MIN = 10_000;

  /**
   * A jump that lasts for this time is followed. Hazelcast corrects most of them with the next
   * heartbeat; but if its clock is far ahead, it ignores heartbeats as too old, and waits for the
   * member list, which comes once a minute.
   */
  static final long LASTS_MILLIS = 90_000;

  private boolean known;
  private long aheadMillis;
  private boolean jumped;
  private long jumpedMillis;

  /**
   * The time of the cluster's clock.
   *
   * @param clusterMillis as Hazelcast says
   * @param nowMillis monotonic time
   */
  synchronized long millis(long clusterMillis, long nowMillis) {
    long ahead = clusterMillis - nowMillis;
    boolean jump = known && Math.abs(ahead - aheadMillis) >= JUMP_MILLIS_MIN;
    if (jump && !jumped) {
      jumpedMillis = nowMillis;
    }
    jumped = jump;
    if (!jump || nowMillis - jumpedMillis >= LASTS_MILLIS) {
      aheadMillis = ahead;
      known = true;
      jumped = false;
    }
    return nowMillis + aheadMillis;
  }
}
