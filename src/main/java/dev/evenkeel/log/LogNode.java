package dev.evenkeel.log;

import java.util.List;

/** All log groups of one node. */
public interface LogNode extends AutoCloseable {
  String META = "meta";

  String nodeId();

  /** Unique id of the cluster, made when it was formed. */
  String clusterId();

  /** Node ids of all voters, this one included, sorted. */
  List<String> nodes();

  LogGroup meta();

  /** The data groups, in the order that {@code Shard.dataGroup} counts them. */
  List<LogGroup> data();

  /** Stops serving, flushes and closes. Blocks; never call it on an event loop. */
  @Override
  void close();
}
