package dev.evenkeel.log;

import java.util.concurrent.CompletableFuture;

/**
 * How a node that has not formed speaks with the others, and they with it. May be used from any
 * thread.
 */
public interface PeerLink {

  /** This is what the others are told from now on. */
  void tell(NodeInfo info);

  /** Asks a node; fails within about a second if it does not answer. */
  CompletableFuture<NodeInfo> ask(String node);

  /**
   * Why the node cannot serve yet, for people; null: nothing keeps it any more.
   *
   * @param hint whether somebody has to do something about it
   */
  void waitingFor(String reason, boolean hint);

  /**
   * Waits for a formed cluster that takes this node in. Blocks.
   *
   * @return null if none has come in time
   * @throws LogStartException if the node is to stop
   */
  Invitation awaitInvitation(long millisMax) throws LogStartException, InterruptedException;

  /**
   * A formed cluster takes an empty node in.
   *
   * @param clusterId the cluster's id
   * @param dataGroups how many data log groups it has
   * @param incarnation of the directory that is meant
   */
  record Invitation(String clusterId, int dataGroups, String incarnation) {}
}
