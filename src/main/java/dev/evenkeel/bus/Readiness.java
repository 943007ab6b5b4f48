package dev.evenkeel.bus;

/**
 * What the parts of a node know about whether it can serve. While the node runs, {@link
 * LocalObjects} holds one. Safe for use from any thread.
 */
public final class Readiness {
  private volatile String obstacle;
  private volatile boolean serving;

  /** What keeps the node from serving, in one line for people; null if nothing does. */
  public String obstacle() {
    return obstacle;
  }

  public synchronized void setObstacle(String newObstacle) {
    obstacle = newObstacle;
  }

  /** Nothing keeps the node from serving any more, if that obstacle was what did. */
  public synchronized void overcome(String former) {
    obstacle = former.equals(obstacle) ? null : obstacle;
  }

  /**
   * Whether all parts of the node have started and none is stopping. The cluster may be able to
   * serve before this node can.
   */
  public boolean serving() {
    return serving;
  }

  public void setServing(boolean nowServing) {
    serving = nowServing;
  }
}
