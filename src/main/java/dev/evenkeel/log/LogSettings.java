package dev.evenkeel.log;

import dev.evenkeel.util.tls.TlsIdentity;
import java.nio.file.Path;
import java.util.List;

/**
 * What a node needs to open its logs.
 *
 * @param nodeId this node
 * @param directory where logs, snapshots and {@code cluster.json} live; made if it is missing
 * @param peers every node of a new cluster, this one included; for an existing one, the nodes that
 *     its directory names count
 * @param dataGroups how many data log groups a new cluster gets; an existing one keeps its number;
 *     0: the default for the number of nodes
 * @param snapshotEveryEntries a snapshot is taken after so many entries; 0: as {@code
 *     memoryBytesMax} says
 * @param snapshotEveryBytes a snapshot is taken after so many bytes of entries and their bodies,
 *     too: it bounds how much of what retention has dropped the log still keeps on disk
 * @param snapshotBytesPerSecondMax how fast this node copies snapshots of other nodes, all log
 *     groups together
 * @param memoryBytesMax heap for the newest bodies and the places of entries, all log groups
 *     together
 * @param joins whether an empty directory waits until a running cluster takes this node in
 * @param tls what it shows other nodes and checks them against; null: connections are not encrypted
 */
public record LogSettings(
    String nodeId,
    Path directory,
    List<Peer> peers,
    int dataGroups,
    long snapshotEveryEntries,
    long snapshotEveryBytes,
    long snapshotBytesPerSecondMax,
    long memoryBytesMax,
    boolean joins,
    TlsIdentity tls) {

  private static final long MEMORY_BYTES = 256L << 20;

  /** A node of a new cluster whose connections to others are not encrypted. */
  public LogSettings(
      String nodeId,
      Path directory,
      List<Peer> peers,
      int dataGroups,
      long snapshotEveryEntries,
      long snapshotEveryBytes,
      long snapshotBytesPerSecondMax) {
    this(
        nodeId,
        directory,
        peers,
        dataGroups,
        snapshotEveryEntries,
        snapshotEveryBytes,
        snapshotBytesPerSecondMax,
        MEMORY_BYTES,
        false,
        null);
  }

  /**
   * A node's id and where its Raft port is. Host names stay names.
   *
   * @param host at which the others reach it
   * @param listenHost at which it listens itself; counts for this node only
   */
  public record Peer(String nodeId, String host, int raftPort, String listenHost) {
    /** One that listens where the others reach it. */
    public Peer(String nodeId, String host, int raftPort) {
      this(nodeId, host, raftPort, host);
    }
  }
}
