package dev.evenkeel.protocol;

import static dev.evenkeel.protocol.Refusal.INVALID;

/**
 * A node of the cluster, as the meta log records it. A cluster that has never changed has no such
 * records: its nodes are those that formed it.
 *
 * @param id its id
 * @param host at which other nodes and clients reach it; empty as long as it is only admitted
 * @param port base of its ports, see {@link NodePorts}; 0 as long as it is only admitted
 * @param zone what fails together, such as a rack or a data center; empty: not known
 * @param state what it is to be
 */
public record ClusterNode(String id, String host, int port, String zone, State state) {
  /** What a node is to be. */
  public enum State {
    /** It may join: an operator has named it before it was started. */
    ADMITTED,
    /** It keeps copies of log groups. */
    MEMBER,
    /** It gives its copies away, and stays in the cluster without any. */
    DRAINING,
    /** It gives its copies away, and leaves the cluster after that. */
    LEAVING
  }

  /** Longest host name. */
  private static final int HOST_CHARS_MAX = 255;

  public ClusterNode {
    host = host == null ? "" : host;
    zone = zone == null ? "" : zone;
  }

  /**
   * Refuses what can be no node.
   *
   * @throws RefusedException INVALID
   */
  public void check() {
    Names.check("node", id);
    if (!zone.isEmpty()) {
      Names.check("zone", zone);
    }
    boolean place =
        !host.isEmpty()
            && host.length() <= HOST_CHARS_MAX
            && port >= 1
            && port <= NodePorts.BASE_MAX;
    boolean none = state == State.ADMITTED && host.isEmpty() && port == 0;
    if (!place && !none) {
      throw INVALID.error("node %s cannot be at '%s', port %s", id, host, port);
    }
  }

  public ClusterNode with(State newState) {
    return new ClusterNode(id, host, port, zone, newState);
  }

  /** Whether its place is known, so that it has joined. */
  public boolean joined() {
    return state != State.ADMITTED;
  }
}
