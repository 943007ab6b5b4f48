package dev.evenkeel.log.raft;

import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.PeerLink;
import dev.evenkeel.util.files.ByteRate;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * What the log groups of a node share for copying snapshots from and to other nodes.
 *
 * @param server gives this node's snapshots to others
 * @param pace how fast those of others come
 * @param refusing why none may come now, or null
 */
record SnapshotExchange(
    PeerLink link, SnapshotServer server, ByteRate pace, Supplier<String> refusing) {

  /**
   * @param hasPeers whether there are other nodes now
   */
  static SnapshotExchange open(
      LogSettings settings, PeerLink link, Supplier<String> refusing, BooleanSupplier hasPeers) {
    SnapshotServer server = new SnapshotServer(settings.nodeId(), hasPeers);
    link.serve(server);
    ByteRate pace = new ByteRate(settings.snapshotBytesPerSecondMax());
    return new SnapshotExchange(link, server, pace, refusing);
  }

  SnapshotInstall install(String group, SnapshotFiles files) {
    SnapshotPull pull = new SnapshotPull(group, pace, server.checksums(), refusing);
    return new SnapshotInstall(group, files, pull, link::snapshotsOf);
  }
}
