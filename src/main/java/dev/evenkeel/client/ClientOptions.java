package dev.evenkeel.client;

import dev.evenkeel.protocol.ClusterDefaults;
import io.vertx.core.json.JsonObject;
import java.util.List;

/**
 * How {@code Evenkeel.connect} finds a cluster. From and to JSON, as Vert.x options are; the keys
 * are the names of the setters.
 */
public final class ClientOptions extends OptionValues<ClientOptions> {
  private static final Schema SCHEMA = new Schema("client option", "", "");

  private static final Option<List<String>> SEEDS =
      SCHEMA.texts("seeds", List.of(ClusterDefaults.HOST + ":" + ClusterDefaults.PORT));
  private static final Option<String> HOST = SCHEMA.text("host", null);
  private static final Option<String> CLUSTER_NAME =
      SCHEMA.text("clusterName", ClusterDefaults.CLUSTER_NAME);
  private static final Option<Long> CONNECT_TIMEOUT =
      SCHEMA.number(
          "connectTimeoutMillis",
          ClusterDefaults.CONNECT_TIMEOUT_MILLIS,
          Long.MIN_VALUE,
          Long.MAX_VALUE);

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

  public List<String> getSeeds() {
    return get(SEEDS);
  }

  /** Nodes to join by, as HOST:PORT; one that answers is enough. Default 127.0.0.1:5701. */
  public ClientOptions setSeeds(List<String> seeds) {
    return set(SEEDS, List.copyOf(seeds));
  }

  public String getHost() {
    return get(HOST);
  }

  /**
   * The address of this machine that nodes can reach; the client listens there on free ports. Null,
   * the default: the address from which this machine reaches the seed.
   */
  public ClientOptions setHost(String host) {
    return set(HOST, host);
  }

  public String getClusterName() {
    return get(CLUSTER_NAME);
  }

  /** The name of the cluster: only members with the same name find each other. */
  public ClientOptions setClusterName(String clusterName) {
    return set(CLUSTER_NAME, clusterName);
  }

  public long getConnectTimeoutMillis() {
    return get(CONNECT_TIMEOUT);
  }

  /** How long the first connection is tried. After a loss, the client tries again for ever. */
  public ClientOptions setConnectTimeoutMillis(long connectTimeoutMillis) {
    return set(CONNECT_TIMEOUT, connectTimeoutMillis);
  }
}
