package dev.evenkeel.log;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The link between the logs of this node and the other nodes. May be used from any thread. */
public interface PeerLink {

  /** Sets what this node answers when another node asks about it. */
  void tell(NodeInfo info);

  /** Asks a node; fails within about a second if it does not answer. */
  CompletableFuture<NodeInfo> ask(String node);

  /** Sets who answers when other nodes copy snapshots of this node. */
  void serve(SnapshotSource own);

  /** The snapshots of another node; what it is asked fails within seconds if it does not answer. */
  SnapshotSource snapshotsOf(String node);

  /**
   * Says why the node cannot serve yet, for people; null: it can.
   *
   * @param hint whether an operator has to do something about it
   */
  void waitingFor(String reason, boolean hint);

  /**
   * Waits until a formed cluster takes this node in. Blocks.
   *
   * @return null if none has come in time
   * @throws LogStartException if the node is to stop
   */
  Invitation awaitInvitation(long millisMax) throws LogStartException, InterruptedException;

  /**
   * Asks a running cluster to take this empty node in.
   *
   * @param own where others reach it
   * @return fails if the cluster refuses it, or cannot be asked now
   */
  CompletableFuture<Void> askToJoin(NodeInfo info, LogSettings.Peer own);

  /**
   * A formed cluster takes an empty node in.
   *
   * @param clusterId the cluster's id
   * @param dataGroups how many data log groups it has
   * @param incarnation of the directory that is meant
   * @param nodes the nodes of the cluster, this one included; empty: those of the settings
   */
  record Invitation(
      String clusterId, int dataGroups, String incarnation, List<LogSettings.Peer> nodes) {
    public Invitation {
      nodes = List.copyOf(nodes);
    }
  }
}
