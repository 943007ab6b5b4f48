package dev.evenkeel.bus;

/** Counts the nodes that this node sees. While the node runs, {@link LocalObjects} holds one. */
@FunctionalInterface
public interface NodesInSight {
  /** How many nodes are members now, this one included. May be called from any thread. */
  int count();
}
