package dev.evenkeel.cluster;

import dev.evenkeel.protocol.ClusterDefaults;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.List;

/**
 * Settings of a client, a member of the cluster without data.
 *
 * @param seeds nodes to join by, with their base ports, at least one
 * @param host the address to listen on; null: the local address of the connection to the seed
 * @param clusterName name of the cluster to join
 * @param connectTimeoutMillis how long to try before joining fails
 */
public record ClientSettings(
    List<HostPort> seeds, String host, String clusterName, long connectTimeoutMillis) {

  public ClientSettings {
    seeds = List.copyOf(seeds);
    if (seeds.isEmpty()) {
      throw new RefusedException(
          Refusal.INVALID, "no node to connect to: name at least one HOST:PORT");
    }
  }

  /** For a node on the loopback interface. */
  public static ClientSettings local(int port) {
    return new ClientSettings(
        List.of(new HostPort(ClusterDefaults.HOST, port)),
        null,
        ClusterDefaults.CLUSTER_NAME,
        ClusterDefaults.CONNECT_TIMEOUT_MILLIS);
  }
}
