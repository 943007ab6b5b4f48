package dev.evenkeel.bus;

/**
 * The cluster's view of members, as this node has it; in {@link LocalObjects} while the node runs.
 */
@FunctionalInterface
public interface NodesInSight {
  /** How many nodes are members now, this one included. May be called from any thread. */
  int count();
}
