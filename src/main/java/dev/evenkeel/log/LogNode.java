package dev.evenkeel.log;

import java.util.ArrayList;
import java.util.List;

/** All log groups of one node. */
public interface LogNode extends AutoCloseable {
  String META = "meta";

  String nodeId();

  /** Unique id of the cluster, made when it was formed. */
  String clusterId();

  /** Node ids of all voters, this one included, sorted. */
  List<String> nodes();

  /** Node ids of the other voters, sorted. */
  default List<String> others() {
    return nodes().stream().filter(node -> !node.equals(nodeId())).toList();
  }

  LogGroup meta();

  /** The data log groups, in the order that {@code Shard.dataGroup} counts them. */
  List<LogGroup> data();

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
