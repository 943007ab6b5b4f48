package dev.evenkeel.broker.member;

/**
 * Judges whether this node is outside the cluster's view of members: for a while it has seen fewer
 * than half of the nodes there. The others have then expelled it, or it is in the smaller part of
 * the cluster; programs cannot reach it by the event bus. In the log it may lead all the same, by a
 * follower that still hears it.
 *
 * <p>Times are of a clock that does not go back.
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
