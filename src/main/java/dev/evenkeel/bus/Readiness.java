package dev.evenkeel.bus;

/**
 * What keeps a node from serving, as its own parts know; in {@link LocalObjects} while the node
 * runs. May be used from any thread.
 */
public final class Readiness {
  private volatile String obstacle;
  private volatile boolean serving;

  /** One line for people, or null if nothing is known to keep it. */
  public String obstacle() {
    return obstacle;
  }

  public void setObstacle(String newObstacle) {
    obstacle = newObstacle;
  }

  /**
   * Whether all parts of the node have started, and none is stopping. The cluster may well be able
   * to serve before this node can.
   */
  public boolean serving() {
    return serving;
  }

  public void setServing(boolean nowServing) {
    serving = nowServing;
  }
}
