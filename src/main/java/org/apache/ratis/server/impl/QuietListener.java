package org.apache.ratis.server.impl;

import java.util.concurrent.CompletableFuture;
import org.apache.ratis.server.RaftServer;

/**
 * Ends the thread by which a node that follows without a vote looks for its leader. It has nothing
 * to do: only who has a vote stands for an election. When such a node hears that it has a vote,
 * Ratis 3.3.0 ({@code ServerState.updateConfiguration}) waits for the end of this thread while it
 * holds the lock of the log group. If the thread has just asked for this lock, neither ever goes
 * on. So the thread must have ended before.
 */
public final class QuietListener {
  private QuietListener() {}

  /** From any thread. Completes when the thread has ended; at once if the node has a vote. */
  public static CompletableFuture<Void> of(RaftServer.Division division) {
    return division.getInfo().isListener()
        ? ((RaftServerImpl) division)
            .getRole()
            .getFollowerState()
            .map(FollowerState::stopRunning)
            .orElseGet(() -> CompletableFuture.completedFuture(null))
        : CompletableFuture.completedFuture(null);
  }
}
