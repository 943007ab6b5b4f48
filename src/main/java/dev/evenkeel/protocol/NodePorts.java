package dev.evenkeel.protocol;

/**
 * The ports of a node for its cluster. They follow each other, so that a user names only the first
 * one, the base.
 */
public final class NodePorts {
  /** How many there are. */
  public static final int COUNT = 4;

  /** Highest base: the last port must exist, too. */
  public static final int BASE_MAX = 65_535 - (COUNT - 1);

  private NodePorts() {}

  /** The client port, for applications. */
  public static int client(int base) {
    return base;
  }

  public static int eventBus(int base) {
    return base + 1;
  }

  public static int raft(int base) {
    return base + 2;
  }

  /** The base of a node's ports, from its Raft port. */
  public static int baseOfRaft(int raftPort) {
    return raftPort - 2;
  }

  public static int hazelcast(int base) {
    return base + 3;
  }
}
