package dev.evenkeel.client;

import dev.evenkeel.protocol.ClusterDefaults;
import io.vertx.core.json.JsonObject;
import java.util.List;

/**
 * Options of {@code Evenkeel.connect}: how a client finds the cluster. They can be read from JSON
 * and written as JSON ({@link #toJson}), as Vert.x options can; the keys are the names of the
 * setters without "set".
 */
public final class ClientOptions extends OptionValues<ClientOptions> {
  private static final Schema SCHEMA = new Schema("client option", "", "");

  private static final Option<List<String>> SEEDS =
      SCHEMA.texts("seeds", List.of(ClusterDefaults.HOST + ":" + ClusterDefaults.PORT));
  private static final Option<String> CLUSTER_NAME =
      SCHEMA.text("clusterName", ClusterDefaults.CLUSTER_NAME);
  private static final Option<Long> CONNECT_TIMEOUT =
      SCHEMA.number("connectTimeoutMillis", ClusterDefaults.CONNECT_TIMEOUT_MILLIS);

  private static final Option<String> CA = SCHEMA.text("ca", null);

  /** Options with their defaults. */
  public ClientOptions() {
    super(SCHEMA);
  }

  /**
   * Options from JSON; what it leaves out has its default.
   *
   * @throws dev.evenkeel.protocol.RefusedException INVALID for an unknown key or a bad value
   */
  public ClientOptions(JsonObject json) {
    super(SCHEMA, json);
  }

  /** The nodes to connect to first, as HOST:PORT; by default 127.0.0.1:5701. */
  public List<String> getSeeds() {
    return get(SEEDS);
  }

  /**
   * Addresses of one or more nodes, as HOST:PORT with the node's base port. One that answers is
   * enough: it names the other nodes. By default 127.0.0.1:5701.
   */
  public ClientOptions setSeeds(List<String> seeds) {
    return set(SEEDS, List.copyOf(seeds));
  }

  /** The name of the cluster, by default "evenkeel". */
  public String getClusterName() {
    return get(CLUSTER_NAME);
  }

  /** Name of the cluster, by default "evenkeel". The nodes of another cluster refuse the client. */
  public ClientOptions setClusterName(String clusterName) {
    return set(CLUSTER_NAME, clusterName);
  }

  /** How long the client tries to connect for the first time, in ms, by default 30,000. */
  public long getConnectTimeoutMillis() {
    return get(CONNECT_TIMEOUT);
  }

  /**
   * How long the client tries to connect for the first time, in milliseconds, by default 30,000.
   * Then {@code Evenkeel.connect} fails with UNAVAILABLE. After a loss of the connection the client
   * tries again until it succeeds or is closed.
   */
  public ClientOptions setConnectTimeoutMillis(long connectTimeoutMillis) {
    return set(CONNECT_TIMEOUT, connectTimeoutMillis);
  }

  /** The file with the certificates of authorities, or null: the connections are not encrypted. */
  public String getCa() {
    return get(CA);
  }

  /**
   * Encrypts the connections to nodes, and checks the nodes' certificates.
   *
   * @param file PEM file with the certificates of the authorities that sign the certificates of
   *     nodes; null, the default: the connections are not encrypted. {@code Evenkeel.connect} fails
   *     with INVALID if it cannot be used
   */
  public ClientOptions setCa(String file) {
    return set(CA, file);
  }
}
