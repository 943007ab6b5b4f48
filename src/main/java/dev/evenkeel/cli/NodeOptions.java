package dev.evenkeel.cli;

import dev.evenkeel.broker.node.BrokerOptions;
import dev.evenkeel.dispatcher.DispatcherOptions;
import dev.evenkeel.gateway.http.WebOptions;
import dev.evenkeel.gateway.session.SessionOptions;
import dev.evenkeel.protocol.ClusterDefaults;
import dev.evenkeel.protocol.NodePorts;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.settings.Setting;
import dev.evenkeel.settings.SettingType;
import dev.evenkeel.settings.SettingValues;
import dev.evenkeel.settings.Settings;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Locale;

/**
 * The settings of a node, for the file, the environment and the command line. {@code http-port} in
 * the file is {@code --http-port} on the command line, and {@code EVENKEEL_HTTP_PORT} in the
 * environment. Settings of the parts of a node are those of their verticles, under other names.
 */
final class NodeOptions extends SettingValues<NodeOptions> {
  /** All of them, in the order of the help. */
  static final Settings SETTINGS = new Settings("setting");

  private static final String PART_OF_THE_HEAP = "; 0: a part of the heap.";
  private static final long REQUESTS_BYTES_MIN = 8 << 20;

  static final Setting<String> NODE =
      text("node", "Id of this node; n1 for a lone node. With peers, one of their ids.");
  static final Setting<String> HOST =
      text("host", "Address to listen on for applications and other nodes.")
          .unless(ClusterDefaults.HOST);
  static final Setting<String> PUBLIC_HOST =
      text("public-host", "Address at which others reach this node; host if empty.");
  static final Setting<Integer> PORT =
      SETTINGS.integer(
          "port",
          ClusterDefaults.PORT,
          1,
          NodePorts.BASE_MAX,
          "Base of four ports: P applications, P+1 event bus, P+2 Raft, P+3 Hazelcast.");
  static final Setting<String> HTTP_HOST =
      text("http-host", "Address to listen on for HTTP; host if empty.");
  static final Setting<Integer> HTTP_PORT = SETTINGS.like("http-port", WebOptions.PORT);
  static final Setting<String> TLS =
      text(
          "tls",
          "Directory with tls.crt, tls.key and ca.crt for applications and HTTP; empty: no TLS.");
  static final Setting<String> USERS =
      text(
          "users",
          "File with the users that may connect, made by 'user add'; empty: everybody may do all.");
  static final Setting<String> OIDC =
      text(
          "oidc",
          "File that says which tokens of an identity provider count, and for what; empty: none.");
  static final Setting<Boolean> INSECURE =
      SETTINGS
          .flag("insecure")
          .help(
              "Listen to other machines, too, without TLS or without users: whoever reaches a port"
                  + " may do everything.");
  static final Setting<List<String>> HTTP_NAMES =
      list("http-names", "Names under which browsers and programs reach HTTP, such as a proxy's.");
  static final Setting<String> DATA =
      text("data", "Directory for messages, logs and state; created if it is missing.")
          .unless("./data");
  static final Setting<List<String>> PEERS =
      list("peers", "Every node as ID@HOST:PORT, including this one; empty: a lone node.");
  static final Setting<List<String>> JOIN =
      list(
          "join",
          "HOST:PORT of nodes of a running cluster, which takes this node in, unless peers names"
              + " it.");
  static final Setting<String> ZONE =
      text("zone", "What fails together with this node, such as a rack; copies spread over zones.");
  static final Setting<String> PEER_TLS =
      text(
          "peer-tls",
          "Directory with tls.crt, tls.key and ca.crt for connections between nodes; empty: no"
              + " TLS.");
  static final Setting<Boolean> ALLOW_BUS_MEMBERS =
      SETTINGS
          .flag("allow-bus-members")
          .help(
              "With peer-tls: programs whose certificate names none of the peers may join the event"
                  + " bus.");
  static final Setting<List<String>> ROLES =
      list("roles", "Roles of this node.").unless(List.of("broker", "dispatcher", "web"));
  static final Setting<String> CLUSTER_NAME =
      text("cluster-name", "Only nodes and clients with the same name form a cluster.")
          .unless(ClusterDefaults.CLUSTER_NAME);
  static final Setting<Long> TAIL_CACHE_BYTES;
  static final Setting<Long> CLIENT_BYTES_IN_FLIGHT_MAX;
  static final Setting<Long> HTTP_BYTES_IN_FLIGHT_MAX;
  static final Setting<Integer> METRICS_LABELS_MAX;
  static final Setting<String> TRACING;
  static final Setting<List<JsonObject>> CONSUMERS;

  static {
    SETTINGS.like("data-groups", BrokerOptions.DATA_GROUPS);
    SETTINGS.like("disk-free-min-bytes", BrokerOptions.DISK_FREE_BYTES_MIN);
    SETTINGS.like("scrub-bytes-per-second", BrokerOptions.SCRUB_BYTES_PER_SECOND);
    SETTINGS.like("scrub-interval", BrokerOptions.SCRUB_MILLIS);
    SETTINGS.like("snapshot-every-entries", BrokerOptions.SNAPSHOT_EVERY_ENTRIES);
    SETTINGS.like("snapshot-every-bytes", BrokerOptions.SNAPSHOT_EVERY_BYTES);
    SETTINGS.like("snapshot-bytes-per-second", BrokerOptions.SNAPSHOT_BYTES_PER_SECOND_MAX);
    SETTINGS.like("segment-bytes", BrokerOptions.SEGMENT_BYTES_MAX);
    SETTINGS
        .like("rewrite-bytes-per-second", BrokerOptions.REWRITE_BYTES_PER_SECOND)
        .from(64 << 10);
    TAIL_CACHE_BYTES = share("tail-cache-bytes", BrokerOptions.TAIL_BYTES_MAX);
    SETTINGS.like("member-timeout", DispatcherOptions.MEMBER_TIMEOUT_MILLIS);
    SETTINGS.like("rebalance-interval", DispatcherOptions.REBALANCE_MILLIS);
    SETTINGS.like("join-quiet", DispatcherOptions.JOIN_QUIET_MILLIS);
    SETTINGS.like("join-wait-max", DispatcherOptions.JOIN_WAIT_MILLIS_MAX);
    SETTINGS.like("client-connections-max", SessionOptions.CONNECTIONS_MAX);
    CLIENT_BYTES_IN_FLIGHT_MAX =
        share("client-bytes-in-flight-max", SessionOptions.NODE_BYTES_IN_FLIGHT_MAX)
            .from(REQUESTS_BYTES_MIN);
    SETTINGS.like("http-connections-max", WebOptions.CONNECTIONS_MAX);
    HTTP_BYTES_IN_FLIGHT_MAX =
        share("http-bytes-in-flight-max", WebOptions.BYTES_IN_FLIGHT_MAX).from(REQUESTS_BYTES_MIN);
    METRICS_LABELS_MAX =
        SETTINGS.integer(
            "metrics-labels-max",
            200,
            0,
            10_000,
            "How many topics, and groups, have metrics of their own; the others are added up.");
    TRACING =
        text(
            "tracing",
            "URL of an OpenTelemetry collector to send spans to by OTLP over HTTP; empty: no"
                + " spans.");
    CONSUMERS =
        SETTINGS
            .add("consumers", SettingType.OBJECTS)
            .unless(List.of())
            .help(
                "Consumers that this node runs: a list of objects, each with group, topics and"
                    + " address, the event-bus address that gets the messages, and with other"
                    + " options of a consumer.");
  }

  /** The defaults. */
  NodeOptions() {
    super(SETTINGS);
  }

  /** A copy. */
  NodeOptions(NodeOptions of) {
    super(of);
  }

  private static Setting<String> text(String key, String help) {
    return SETTINGS.text(key).unless("").help(help);
  }

  private static Setting<List<String>> list(String key, String help) {
    return SETTINGS.texts(key).unless(List.of()).label("LIST").help(help);
  }

  /** A limit in bytes that the node chooses if nobody sets it. */
  private static Setting<Long> share(String key, Setting<Long> limit) {
    return SETTINGS
        .like(key, limit)
        .unless(0L)
        .orZero()
        .help(limit.help().replaceFirst("\\.$", PART_OF_THE_HEAP));
  }

  /** The variable of the environment that sets it. */
  static String variable(Setting<?> setting) {
    return "EVENKEEL_" + setting.key().toUpperCase(Locale.ROOT).replace('-', '_');
  }

  /**
   * @param raw a text, or the object that YAML made of it
   * @param source names the file, variable or command line in errors
   * @throws CommandFailure wrong usage, with the source, the key, the value and what is right
   */
  <T> void read(Setting<T> setting, Object raw, String source) {
    T value;
    try {
      value = setting.parse(raw);
    } catch (RefusedException e) {
      throw CommandFailure.usage(
          "%s: %s is '%s': %s".formatted(source, setting, raw, e.getMessage()));
    }
    try {
      setting.check(value);
    } catch (RefusedException e) {
      String words = e.wordsOfCommands().replace(setting.option(), setting.key());
      throw CommandFailure.usage(
          setting.bounds().isEmpty()
              ? source + ": " + words
              : "%s: %s is '%s': it must be %s".formatted(source, setting, raw, setting.bounds()));
    }
    put(setting, value);
  }

  <T> void put(Setting<T> setting, T value) {
    set(setting, value);
  }
}
