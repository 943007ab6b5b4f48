package dev.evenkeel.log;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** All log groups of one node. */
public interface LogNode extends AutoCloseable {
  String META = "meta";

  String nodeId();

  /** Unique id of the cluster, made when it was formed. */
  String clusterId();

  /** The nodes of the cluster, this one included, by id. */
  List<LogSettings.Peer> peers();

  /**
   * Notes which nodes the cluster has now. Survives a restart. Blocks.
   *
   * @param peers this node included
   */
  void setPeers(List<LogSettings.Peer> peers) throws IOException;

  /**
   * Notes that the cluster has taken this node out: it ends, and its directory does not start
   * again. Blocks.
   */
  void removed() throws IOException;

  /**
   * Deletes this node's copy of a log group in which it has no vote any more, and begins an empty
   * one, which has no vote. The caller knows that the vote was taken away for good.
   *
   * @param above index of an entry at which the node had no vote: only a vote that was given after
   *     it counts. At least the last entry of the deleted copy is taken
   * @return fails UNAVAILABLE if the node still follows a leader that may count its vote
   */
  CompletableFuture<Void> dropCopy(LogGroup group, long above);

  /** Ids of the nodes of the cluster, this one included, sorted. */
  default List<String> nodes() {
    return peers().stream().map(LogSettings.Peer::nodeId).sorted().toList();
  }

  /** Ids of the other nodes, sorted. */
  default List<String> others() {
    return nodes().stream().filter(node -> !node.equals(nodeId())).toList();
  }

  LogGroup meta();

  /** The data log groups, in the order of their numbers. Those that were added come last. */
  List<LogGroup> data();

  /** How many data log groups the cluster was formed with. */
  int formedGroups();

  /**
   * Opens another data log group, which has the next number, and notes that there is one. Blocks.
   *
   * @param founders ids of its first voters; a node that is not among them begins without a vote
   * @throws IOException if it cannot be opened; it may be tried again
   */
  void addGroup(List<String> founders) throws IOException;

  /** Meta first, then the data log groups in their order. */
  default List<LogGroup> all() {
    List<LogGroup> all = new ArrayList<>();
    all.add(meta());
    all.addAll(data());
    return all;
  }

  /**
   * Stops or resumes taking entries, for lack of disk space. While there is a reason, this node
   * takes no entries and no snapshots from leaders and falls behind, but still votes and knows who
   * leads. Where it leads, large entries are refused DISK_FULL.
   *
   * @param reason a line for people; null: the node takes entries again
   */
  default void refuseEntries(String reason) {}

  /** Stops serving, flushes and closes. Blocks; never call it on an event loop. */
  @Override
  void close();
}
