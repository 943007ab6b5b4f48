package dev.evenkeel.cluster;

import dev.evenkeel.protocol.ClusterDefaults;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.List;

/**
 * How a node, a member that holds data, takes part in the cluster. Nothing listens on, and nothing
 * is announced at, any other address than the one given here.
 *
 * @param host the address to listen on
 * @param publicHost the address at which others reach it; usually the same
 * @param port for Hazelcast; the event bus has the next one
 * @param peers every node's host and port, its own may be among them; empty for a lone node
 * @param clusterName only members of the same name find together
 */
public record NodeSettings(
    String host, String publicHost, int port, List<HostPort> peers, String clusterName) {

  private static final int PORT_MAX = 65_534;

  public NodeSettings {
    if (port < 1 || port > PORT_MAX) {
      throw new RefusedException(
          Refusal.INVALID, "bad port " + port + ": use 1 to " + PORT_MAX + " (default 5701)");
    }
    peers = List.copyOf(peers);
  }

  /** A lone node on the loopback interface. */
  public static NodeSettings lone(int port) {
    return new NodeSettings(
        ClusterDefaults.HOST, ClusterDefaults.HOST, port, List.of(), ClusterDefaults.CLUSTER_NAME);
  }

  public int eventBusPort() {
    return port + 1;
  }
}
