package org.apache.ratis.server.impl;

import org.apache.ratis.server.RaftServer;

/**
 * Keeps a node out of the elections of a log group before the engine has started it. The request of
 * Ratis 3.3.0 for that ({@code LeaderElectionManagementRequest}) is refused until then, and a node
 * whose configuration names nobody else elects itself within a second. What it sets is visible in
 * this package alone.
 */
public final class ElectionPause {
  private ElectionPause() {}

  /** From any thread. */
  public static void set(RaftServer.Division division, boolean paused) {
    ((RaftServerImpl) division).getRole().setLeaderElectionPause(paused);
  }
}
