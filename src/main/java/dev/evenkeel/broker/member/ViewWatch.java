package dev.evenkeel.broker.member;

/**
 * Decides whether this node is outside the cluster's view of members: it has seen fewer than half
 * of the nodes there for a while. The other nodes have then expelled it, or it is in the smaller
 * part of the cluster, and programs cannot reach it over the event bus. It may still lead log
 * groups, because followers may still hear it.
 *
 * <p>Times are from a monotonic clock.
 */
final class ViewWatch {
  /** A member that joins afresh sees itself alone for a moment. */
  static final long OUTSIDE_MILLIS = 2_000;

  private long sinceMillis = -1;

  /**
   * @param inSight nodes in the view, this one included
   * @param nodes all nodes of the cluster
   */
  boolean outside(int inSight, int nodes, long nowMillis) {
    if (2 * inSight >= nodes) {
      sinceMillis = -1;
      return false;
    }
    if (sinceMillis < 0) {
      sinceMillis = nowMillis;
    }
    return nowMillis - sinceMillis >= OUTSIDE_MILLIS;
  }
}
