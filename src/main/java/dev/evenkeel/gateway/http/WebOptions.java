package dev.evenkeel.gateway.http;

import dev.evenkeel.gateway.access.JsonSize;
import dev.evenkeel.protocol.ClusterDefaults;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.settings.Setting;
import dev.evenkeel.settings.SettingValues;
import dev.evenkeel.settings.Settings;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** Configuration of the {@link WebVerticle}, as JSON. */
public final class WebOptions extends SettingValues<WebOptions> {
  /** The node closes a connection that is idle for this time. */
  static final int IDLE_MILLIS_MAX = 120_000;

  /** All of them. */
  public static final Settings SETTINGS = new Settings("configuration key");

  static final Setting<String> HOST =
      SETTINGS.text("host").unless(ClusterDefaults.HOST).help("Address at which it listens.");

  public static final Setting<Integer> PORT =
      SETTINGS.integer("port", 8080, 0, 65_535, "Port for HTTP; 0: any free port.");

  static final Setting<String> NODE =
      SETTINGS.text("node").unless("").help("Node id that /health shows.");

  static final Setting<List<String>> NODES =
      SETTINGS
          .texts("nodes")
          .unless(List.of())
          .help("Ids of the nodes that form the cluster, at which browsers may have logged in.");

  static final Setting<Boolean> LOCAL_ONLY =
      SETTINGS.flag("localOnly").help("Ask only the gateway of this JVM.");

  static final Setting<String> USERS = SETTINGS.text("users").help("File with the users.");

  static final Setting<String> OIDC =
      SETTINGS.text("oidc").help("File with the identity provider whose tokens count.");

  static final Setting<String> TLS =
      SETTINGS.text("tls").help("Directory with tls.crt, tls.key and ca.crt.");

  static final Setting<List<String>> NAMES =
      SETTINGS
          .texts("names")
          .unless(List.of())
          .help("Host names of the node, such as a proxy's, besides localhost.");

  public static final Setting<Integer> CONNECTIONS_MAX =
      SETTINGS.integer(
          "connectionsMax",
          1_000,
          1,
          1_000_000,
          "Most HTTP connections to this node, without WebSockets.");

  /** At least the largest body. */
  public static final Setting<Long> BYTES_IN_FLIGHT_MAX =
      SETTINGS
          .size("bytesInFlightMax")
          .unless(32L << 20)
          .from(JsonSize.MESSAGES_BYTES_MAX)
          .to(1L << 40)
          .help("Bytes of the bodies of HTTP requests that wait for answers.");

  static final Setting<Long> REQUEST_MILLIS_MAX =
      SETTINGS.time("requestMillisMax", 30_000, 50, 600_000, "Time for a request to arrive whole.");

  static final Setting<Long> IDLE_MILLIS =
      SETTINGS.time(
          "idleMillisMax",
          IDLE_MILLIS_MAX,
          50,
          IDLE_MILLIS_MAX,
          "Time from an answer to the next request on the same connection.");

  /**
   * @throws RefusedException INVALID for an unknown key, or a value that is wrong
   */
  WebOptions(JsonObject json) {
    super(SETTINGS, json);
    check();
  }

  /** How often deadlines are checked. */
  long tickMillis() {
    return Math.min(1_000, Math.min(get(REQUEST_MILLIS_MAX), get(IDLE_MILLIS)) / 5);
  }
}
