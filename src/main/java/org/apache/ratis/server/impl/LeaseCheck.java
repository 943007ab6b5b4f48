package org.apache.ratis.server.impl;

import org.apache.ratis.server.RaftServer;

/**
 * Asks a leader whether it still has its lease: a majority has answered it so lately that nobody of
 * it votes for another one yet. Ratis 3.3.0 asks this only before it reads. What knows it is
 * visible in this package alone.
 */
public final class LeaseCheck {
  private LeaseCheck() {}

  /** From any thread. */
  public static boolean hasLease(RaftServer.Division division) {
    return ((RaftServerImpl) division)
        .getRole()
        .getLeaderState()
        .map(LeaderStateImpl::hasLease)
        .orElse(false);
  }
}
