package dev.evenkeel.gateway.session;

import dev.evenkeel.api.RecordJson;
import dev.evenkeel.bus.NodePlace;
import dev.evenkeel.protocol.ClusterDefaults;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.settings.Setting;
import dev.evenkeel.settings.SettingType;
import dev.evenkeel.settings.SettingValues;
import dev.evenkeel.settings.Settings;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** Configuration of the {@link SessionVerticle}, as JSON. */
public final class SessionOptions extends SettingValues<SessionOptions> {
  private static final long COUNT_MAX = 1_000_000;
  private static final long BYTES_MAX = 1L << 40;

  /** All of them. */
  public static final Settings SETTINGS = new Settings("configuration key");

  static final Setting<String> HOST =
      SETTINGS.text("host").unless(ClusterDefaults.HOST).help("Address at which it listens.");

  static final Setting<Integer> PORT =
      SETTINGS.integer(
          "port", ClusterDefaults.PORT, 0, 65_535, "Port at which it listens; 0: any free port.");

  static final Setting<String> NODE = SETTINGS.text("node").help("Id of this node.");

  static final Setting<String> CLUSTER_NAME =
      SETTINGS
          .text("clusterName")
          .unless(ClusterDefaults.CLUSTER_NAME)
          .help("Name of the cluster, which applications must know.");

  /** None: this node at its host and port. */
  static final Setting<List<NodePlace>> NODES =
      SETTINGS
          .add("nodes", SettingType.json(SessionOptions::node, RecordJson::json).list())
          .help("Where applications find every node.");

  static final Setting<String> USERS = SETTINGS.text("users").help("File with the users.");

  static final Setting<String> OIDC =
      SETTINGS.text("oidc").help("File with the identity provider whose tokens count.");

  static final Setting<String> TLS =
      SETTINGS.text("tls").help("Directory with tls.crt, tls.key and ca.crt.");

  static final Setting<String> SERVER =
      SETTINGS
          .text("server")
          .unless("evenkeel")
          .help("What the node calls itself to applications.");

  public static final Setting<Integer> CONNECTIONS_MAX =
      SETTINGS.integer(
          "connectionsMax", 20_000, 1, COUNT_MAX, "Most connections of applications to this node.");

  static final Setting<Integer> HALF_OPEN_MAX =
      SETTINGS.integer(
          "halfOpenMax", 1_000, 1, COUNT_MAX, "Connections that have not said HELLO yet.");

  static final Setting<Long> HANDSHAKE_MILLIS_MAX =
      SETTINGS.time(
          "handshakeMillisMax",
          5_000,
          50,
          600_000,
          "How long an application may take to say HELLO.");

  static final Setting<Integer> HELLO_BYTES_MAX =
      SETTINGS.integer(
          "helloBytesMax", 16 << 10, 1_024, 1 << 20, "Longest body of a frame before WELCOME.");

  static final Setting<Integer> BODY_BYTES_MAX =
      SETTINGS.integer(
          "bodyBytesMax",
          4 << 20,
          4_096,
          64 << 20,
          "Longest body of a frame after WELCOME, in both directions.");

  /** Each busy shard of a consumer has a fetch, and a heartbeat must get through beside them. */
  static final Setting<Integer> REQUESTS_IN_FLIGHT_MAX =
      SETTINGS.integer(
          "requestsInFlightMax",
          20_000,
          1,
          COUNT_MAX,
          "Requests of one application without an answer.");

  static final Setting<Long> SESSION_BYTES_IN_FLIGHT_MAX =
      SETTINGS
          .size("sessionBytesInFlightMax")
          .usually(64L << 20)
          .to(BYTES_MAX)
          .help(
              "Bytes of the requests of one application that wait for answers, and of large answers"
                  + " not sent yet.");

  /** Requests that have not come whole may take as much again. */
  public static final Setting<Long> NODE_BYTES_IN_FLIGHT_MAX =
      SETTINGS
          .size("nodeBytesInFlightMax")
          .usually(256L << 20)
          .to(BYTES_MAX)
          .help(
              "Bytes of requests of applications that wait for answers, and of large answers not"
                  + " sent yet.");

  static final Setting<Integer> LISTENING_MAX =
      SETTINGS.integer(
          "listeningMax", 2_000, 1, COUNT_MAX, "Addresses at which one connection listens.");

  static final Setting<Integer> NODE_LISTENING_MAX =
      SETTINGS.integer(
          "nodeListeningMax",
          100_000,
          1,
          COUNT_MAX,
          "Addresses at which all applications of this node listen.");

  static final Setting<Integer> PUSHES_QUEUED_MAX =
      SETTINGS.integer(
          "pushesQueuedMax",
          1_000,
          1,
          COUNT_MAX,
          "Messages that wait for a connection that does not read, before it is closed.");

  static final Setting<Long> PUSH_BYTES_QUEUED_MAX =
      SETTINGS
          .size("pushBytesQueuedMax")
          .usually(16L << 20)
          .to(BYTES_MAX)
          .help("Bytes of these messages.");

  /** A connection that is silent, or takes no bytes, for three times as long is closed. */
  static final Setting<Long> KEEP_ALIVE_MILLIS =
      SETTINGS.time(
          "keepAliveMillis", 5_000, 50, 600_000, "An application must send something this often.");

  /**
   * A limit of bytes that is not set grows with the longest frame.
   *
   * @throws RefusedException INVALID for an unknown key, or a value that is wrong
   */
  SessionOptions(JsonObject json) {
    super(SETTINGS, json);
    check();
    long body = get(BODY_BYTES_MAX);
    // A limit below the longest frame would refuse that frame for ever.
    fit(SESSION_BYTES_IN_FLIGHT_MAX, body);
    fit(NODE_BYTES_IN_FLIGHT_MAX, body + Sessions.REQUEST_BYTES);
    fit(PUSH_BYTES_QUEUED_MAX, body);
  }

  private void fit(Setting<Long> limit, long min) {
    if (given(limit) == null) {
      set(limit, Math.max(get(limit), min));
    } else if (given(limit) < min) {
      throw Refusal.INVALID.error("%s is %s: at least %s is needed", limit, given(limit), min);
    }
  }

  private static NodePlace node(Object json) {
    NodePlace node = RecordJson.of(NodePlace.class).read((JsonObject) json);
    Names.check("node", node.node());
    return node;
  }

  /** A connection that is silent for longer is closed. */
  long silenceMillisMax() {
    return 3 * get(KEEP_ALIVE_MILLIS);
  }

  /** How often deadlines are checked. */
  long tickMillis() {
    return Math.min(1_000, Math.min(get(HANDSHAKE_MILLIS_MAX), get(KEEP_ALIVE_MILLIS)) / 5);
  }
}
