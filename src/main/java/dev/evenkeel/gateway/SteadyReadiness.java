package dev.evenkeel.gateway;

/**
 * Readiness that outlasts a change of leaders: elections and the start of a dispatcher end by
 * themselves within seconds, and all nodes see them at the same time. If each said that it is not
 * ready, nobody would be.
 */
final class SteadyReadiness {
  /** For so long a node that was ready says so while the cluster cannot serve. */
  static final long GRACE_MILLIS = 10_000;

  private boolean ready;
  private boolean failing;
  private long failingSinceMillis;

  /**
   * Notes whether the cluster can serve now.
   *
   * @param nowMillis of a monotonic clock
   * @return whether the node is to count as ready
   */
  synchronized boolean seen(boolean canServe, long nowMillis) {
    if (canServe) {
      ready = true;
    } else if (!failing) {
      // However long ago it was asked before: the change may just have begun.
      failingSinceMillis = nowMillis;
    } else if (nowMillis - failingSinceMillis >= GRACE_MILLIS) {
      ready = false;
    }
    failing = !canServe;
    return ready;
  }
}
