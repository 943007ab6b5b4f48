package dev.evenkeel.cluster;

import dev.evenkeel.protocol.ClusterDefaults;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.protocol.NodePorts;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.util.tls.TlsIdentity;
import io.vertx.core.spi.VertxTracerFactory;
import java.util.List;

/**
 * Settings of a node, a member of the cluster that holds data. It listens on no other address than
 * {@code host}, and announces no other than {@code publicHost}.
 *
 * @param host the address to listen on
 * @param publicHost the address at which others reach it, usually the same
 * @param port base of the node's ports, see {@link NodePorts}; Hazelcast and the event bus use two
 * @param peers host and base port of every node, with or without its own; empty for a lone node
 * @param clusterName name of the cluster
 * @param tls what it shows other nodes and checks them against; null: connections are not encrypted
 * @param tracer makes the tracer of the node's Vert.x; null: it has none
 * @param addresses which addresses of the event bus belong to which node
 */
public record NodeSettings(
    String host,
    String publicHost,
    int port,
    List<HostPort> peers,
    String clusterName,
    TlsIdentity tls,
    VertxTracerFactory tracer,
    NodeAddresses addresses) {

  public NodeSettings {
    if (port < 1 || port > NodePorts.BASE_MAX) {
      throw Refusal.INVALID.error(
          "bad port " + port + ": use 1 to " + NodePorts.BASE_MAX + " (default 5701)");
    }
    peers = List.copyOf(peers);
  }

  /** A node without a name, whose connections to others are not encrypted. */
  public NodeSettings(
      String host, String publicHost, int port, List<HostPort> peers, String clusterName) {
    this(host, publicHost, port, peers, clusterName, null, null, NodeAddresses.NONE);
  }

  /** A lone node on the loopback interface. */
  public static NodeSettings lone(int port) {
    return new NodeSettings(
        ClusterDefaults.HOST, ClusterDefaults.HOST, port, List.of(), ClusterDefaults.CLUSTER_NAME);
  }

  int hazelcastPort() {
    return NodePorts.hazelcast(port);
  }

  public int eventBusPort() {
    return NodePorts.eventBus(port);
  }
}
