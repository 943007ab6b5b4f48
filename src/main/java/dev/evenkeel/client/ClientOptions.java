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
  private static final Option<String> TOKEN_FILE = SCHEMA.text("tokenFile", null);
  private static final Option<String> CERTIFICATE = SCHEMA.text("certificate", null);
  private static final Option<String> KEY = SCHEMA.text("key", null);

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

  /** The file with the client's token, or null. */
  public String getTokenFile() {
    return get(TOKEN_FILE);
  }

  /**
   * Says by a token which user of the cluster this program belongs to.
   *
   * @param file text file with the token alone, as {@code user add} prints it; null, the default:
   *     none. The client reads it before each connection, so a new token needs no restart. {@code
   *     Evenkeel.connect} fails with UNAUTHENTICATED if the nodes do not know the token
   */
  public ClientOptions setTokenFile(String file) {
    return set(TOKEN_FILE, file);
  }

  /** The file with the client's certificate, or null. */
  public String getCertificate() {
    return get(CERTIFICATE);
  }

  /**
   * Says by a certificate which user of the cluster this program belongs to. It needs {@link
   * #setKey} and {@link #setCa}. A token counts more.
   *
   * @param file PEM file with the certificate, and those between it and its authority; null, the
   *     default: none
   */
  public ClientOptions setCertificate(String file) {
    return set(CERTIFICATE, file);
  }

  /** The file with the key of the client's certificate, or null. */
  public String getKey() {
    return get(KEY);
  }

  /** The key of the certificate: a PEM file. */
  public ClientOptions setKey(String file) {
    return set(KEY, file);
  }
}
