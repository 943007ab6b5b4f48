package dev.evenkeel.bus;

import dev.evenkeel.protocol.ClusterNode;
import java.util.List;

/** The nodes of the cluster. While a node runs, {@link LocalObjects} may hold one. */
@FunctionalInterface
public interface NodesKnown {
  /** The nodes as recorded; empty as long as none has joined or left. From any thread. */
  List<ClusterNode> now();
}
