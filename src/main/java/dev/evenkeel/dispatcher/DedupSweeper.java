package dev.evenkeel.dispatcher;

import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.dispatcher.core.DispatcherCore;
import dev.evenkeel.dispatcher.core.GroupState;
import dev.evenkeel.protocol.GroupPolicy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Frees the keys of dead members in the shared dedup map, and keys that are overdue: once a second
 * while any group deduplicates, one sweep at a time.
 */
final class DedupSweeper {
  private static final Logger LOG = LoggerFactory.getLogger(DedupSweeper.class);
  private static final long SWEEP_MILLIS = 1_000;

  private final ClusterMember cluster;
  private final DispatcherMeters meters;
  private long sweepAtMillis;

  /** Set and read from any thread. */
  private volatile boolean sweeping;

  DedupSweeper(ClusterMember cluster, DispatcherMeters meters) {
    this.cluster = cluster;
    this.meters = meters;
  }

  void tick(DispatcherCore core, long nowMillis) {
    if (sweeping || nowMillis < sweepAtMillis || !anyDeduplicates(core)) {
      return;
    }
    sweepAtMillis = nowMillis + SWEEP_MILLIS;
    sweeping = true;
    cluster
        .dedup()
        .sweep(cluster.members())
        .whenComplete(
            (evicted, failure) -> {
              sweeping = false;
              if (failure != null) {
                LOG.debug("the dedup map could not be swept", failure);
              } else {
                meters.swept.add(evicted);
              }
            });
  }

  private static boolean anyDeduplicates(DispatcherCore core) {
    for (GroupState group : core.all()) {
      if (group.info() != null && !GroupPolicy.DEDUP_OFF.equals(group.info().policy().dedup())) {
        return true;
      }
    }
    return false;
  }
}
