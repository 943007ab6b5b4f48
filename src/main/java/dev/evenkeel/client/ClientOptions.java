package dev.evenkeel.client;

import dev.evenkeel.protocol.ClusterDefaults;
import dev.evenkeel.protocol.Told;
import dev.evenkeel.settings.Setting;
import dev.evenkeel.settings.SettingValues;
import dev.evenkeel.settings.Settings;
import io.vertx.core.json.JsonObject;
import java.util.List;

/**
 * Options of {@code Evenkeel.connect}: how a client finds the cluster. They can be read from JSON
 * and written as JSON ({@link #toJson}), as Vert.x options can; the keys are the names of the
 * setters without "set".
 */
public final class ClientOptions extends SettingValues<ClientOptions> {
  private static final Settings SETTINGS = new Settings("client option");

  private static final Setting<List<String>> SEEDS =
      SETTINGS
          .texts("seeds")
          .unless(List.of(ClusterDefaults.HOST + ":" + ClusterDefaults.PORT))
          .option("--cluster HOST:PORT")
          .help("The nodes to connect to first.");
  private static final Setting<String> CLUSTER_NAME =
      SETTINGS
          .text("clusterName")
          .unless(ClusterDefaults.CLUSTER_NAME)
          .help("Name of the cluster.");
  private static final Setting<Long> CONNECT_TIMEOUT =
      SETTINGS
          .time("connectTimeoutMillis")
          .unless(ClusterDefaults.CONNECT_TIMEOUT_MILLIS)
          .help("How long the client tries to connect for the first time.");
  private static final Setting<String> CA =
      SETTINGS
          .text("ca")
          .option("--ca FILE")
          .help("File with the certificates of the authorities of nodes.");
  private static final Setting<String> TOKEN_FILE =
      SETTINGS.text("tokenFile").help("File with the token of a user.");
  private static final Setting<String> CERTIFICATE =
      SETTINGS
          .text("certificate")
          .option("--cert FILE")
          .help("File with the certificate of a user.");
  private static final Setting<String> KEY =
      SETTINGS.text("key").option("--cert-key FILE").help("File with the key of the certificate.");

  /** All settings of a client. */
  public static Settings settings() {
    return SETTINGS;
  }

  /** The name of a setting in advice: its setter, or its option of commands. */
  public static Told setter(String key) {
    return SETTINGS.of(key).setter(ClientOptions.class);
  }

  /** Options with their defaults. */
  public ClientOptions() {
    super(SETTINGS);
  }

  /**
   * Options from JSON; what it leaves out has its default.
   *
   * @throws dev.evenkeel.protocol.RefusedException INVALID for an unknown key or a bad value
   */
  public ClientOptions(JsonObject json) {
    super(SETTINGS, json);
  }

  /** See {@link #setSeeds}. */
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

  /** See {@link #setClusterName}. */
  public String getClusterName() {
    return get(CLUSTER_NAME);
  }

  /** Name of the cluster, by default "evenkeel". The nodes of another cluster refuse the client. */
  public ClientOptions setClusterName(String clusterName) {
    return set(CLUSTER_NAME, clusterName);
  }

  /** See {@link #setConnectTimeoutMillis}. */
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

  /** See {@link #setCa}. */
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

  /** See {@link #setTokenFile}. */
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

  /** See {@link #setCertificate}. */
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

  /** See {@link #setKey}. */
  public String getKey() {
    return get(KEY);
  }

  /** The key of the certificate: a PEM file. */
  public ClientOptions setKey(String file) {
    return set(KEY, file);
  }
}
