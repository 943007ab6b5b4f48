package dev.evenkeel.cluster;

import io.vertx.core.Future;

/** An attempt to join the cluster that is under way. */
public interface Joining {
  Future<ClusterMember> member();

  /**
   * Calls it off: {@link #member()} fails with UNAVAILABLE at once, and what was begun is closed
   * when it is through. Does nothing once the member is there.
   */
  void cancel();
}
