package dev.evenkeel.cli;

import static dev.evenkeel.cli.NodeSetting.Type.BYTES;
import static dev.evenkeel.cli.NodeSetting.Type.DURATION;
import static dev.evenkeel.cli.NodeSetting.Type.FLAG;
import static dev.evenkeel.cli.NodeSetting.Type.LIST;
import static dev.evenkeel.cli.NodeSetting.Type.NUMBER;
import static dev.evenkeel.cli.NodeSetting.Type.TEXT;

import dev.evenkeel.broker.node.BrokerSettings;
import dev.evenkeel.dispatcher.core.DispatcherSettings;
import dev.evenkeel.gateway.http.HttpLimits;
import dev.evenkeel.gateway.session.SessionLimits;
import dev.evenkeel.protocol.Durations;
import dev.evenkeel.protocol.NodePorts;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.settings.ByteSizes;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The settings of a node. Each is declared once, with its type, default, bounds and help, for the
 * file, the environment and the command line. {@code HTTP_PORT} is {@code http-port} in the file,
 * {@code --http-port} on the command line, and {@code EVENKEEL_HTTP_PORT} in the environment.
 */
enum NodeSetting {
  NODE(TEXT, "", "Id of this node; n1 for a lone node. With peers, one of their ids."),
  HOST(TEXT, "127.0.0.1", "Address to listen on for applications and other nodes."),
  PUBLIC_HOST(TEXT, "", "Address at which others reach this node; host if empty."),
  PORT(
      NUMBER,
      5701,
      1,
      NodePorts.BASE_MAX,
      "Base of four ports: P applications, P+1 event bus, P+2 Raft, P+3 Hazelcast."),
  HTTP_HOST(TEXT, "", "Address to listen on for HTTP; host if empty."),
  HTTP_PORT(NUMBER, 8080, 0, 65_535, "Port for HTTP; 0: any free port."),
  TLS(
      TEXT,
      "",
      "Directory with tls.crt, tls.key and ca.crt for applications and HTTP; empty: no TLS."),
  USERS(
      TEXT,
      "",
      "File with the users that may connect, made by 'user add'; empty: everybody may do all."),
  INSECURE(
      FLAG,
      "false",
      "Listen to other machines, too, without TLS or without users: whoever reaches a port may do"
          + " everything."),
  HTTP_NAMES(LIST, "", "Names under which browsers and programs reach HTTP, such as a proxy's."),
  DATA(TEXT, "./data", "Directory for messages, logs and state; created if it is missing."),
  PEERS(LIST, "", "Every node as ID@HOST:PORT, including this one; empty: a lone node."),
  JOIN(
      LIST,
      "",
      "HOST:PORT of nodes of a running cluster, which takes this node in, unless peers names it."),
  ZONE(TEXT, "", "What fails together with this node, such as a rack; copies spread over zones."),
  PEER_TLS(
      TEXT,
      "",
      "Directory with tls.crt, tls.key and ca.crt for connections between nodes; empty: no TLS."),
  ALLOW_BUS_MEMBERS(
      FLAG,
      "false",
      "With peer-tls: programs whose certificate names none of the peers may join the event bus."),
  ROLES(LIST, "broker,dispatcher,web", "Roles of this node."),
  CLUSTER_NAME(TEXT, "evenkeel", "Only nodes and clients with the same name form a cluster."),
  DATA_GROUPS(NUMBER, 0, 0, 256, "Log groups of a new cluster; 0: depends on its size."),
  DISK_FREE_MIN_BYTES(
      BYTES,
      BrokerSettings.DISK_FREE_BYTES_MIN,
      0,
      1L << 50,
      "The node refuses appends when less disk space is free."),
  SCRUB_BYTES_PER_SECOND(
      BYTES,
      BrokerSettings.ScrubSettings.DEFAULT.bytesPerSecond(),
      0,
      1L << 40,
      "How fast the node checks stored messages for damage; 0: never."),
  SCRUB_INTERVAL(
      DURATION,
      BrokerSettings.ScrubSettings.DEFAULT.everyMillis(),
      1_000,
      30L * 86_400_000,
      "The pause between two checks of all stored messages."),
  SNAPSHOT_EVERY_ENTRIES(
      NUMBER,
      0,
      100,
      100_000_000,
      "Log entries between snapshots; 0: depends on the heap, at most 100000."),
  SNAPSHOT_EVERY_BYTES(
      BYTES,
      BrokerSettings.SNAPSHOT_EVERY_BYTES,
      1 << 20,
      1L << 40,
      "Bytes of messages between snapshots."),
  SNAPSHOT_BYTES_PER_SECOND(
      BYTES,
      BrokerSettings.SNAPSHOT_BYTES_PER_SECOND_MAX,
      1 << 20,
      1L << 40,
      "How fast the node copies snapshots of other nodes."),
  SEGMENT_BYTES(
      BYTES,
      BrokerSettings.SEGMENT_BYTES_MAX,
      1 << 20,
      1 << 30,
      "Size of a segment, a file with messages of a log group."),
  REWRITE_BYTES_PER_SECOND(
      BYTES,
      BrokerSettings.REWRITE_BYTES_PER_SECOND,
      64 << 10,
      1 << 30,
      "How fast the node rewrites segments to free the space of dropped messages."),
  TAIL_CACHE_BYTES(
      BYTES,
      0,
      1 << 20,
      16L << 30,
      "Memory for the newest batches of all log groups; 0: a part of the heap."),
  MEMBER_TIMEOUT(
      DURATION,
      DispatcherSettings.DEFAULT.memberTimeoutMillis(),
      100,
      600_000,
      "How long a new dispatcher waits for owners that it only knows from the log."),
  REBALANCE_INTERVAL(
      DURATION,
      DispatcherSettings.DEFAULT.rebalanceMillis(),
      100,
      600_000,
      "How often the dispatcher plans all shards again."),
  JOIN_QUIET(
      DURATION,
      DispatcherSettings.DEFAULT.joinQuietMillis(),
      0,
      10_000,
      "After a member joins, the dispatcher waits until none has joined for this time, then"
          + " plans."),
  JOIN_WAIT_MAX(
      DURATION,
      DispatcherSettings.DEFAULT.joinWaitMillisMax(),
      0,
      60_000,
      "The longest such wait, counted from the first member."),
  CLIENT_CONNECTIONS_MAX(
      NUMBER,
      SessionLimits.DEFAULT.connectionsMax(),
      1,
      1_000_000,
      "Most connections of applications to this node."),
  CLIENT_BYTES_IN_FLIGHT_MAX(
      BYTES,
      0,
      8 << 20,
      1L << 40,
      "Bytes of requests of applications that wait for answers, and of large answers not sent yet;"
          + " 0: a part of the heap."),
  HTTP_CONNECTIONS_MAX(
      NUMBER,
      HttpLimits.DEFAULT.connectionsMax(),
      1,
      1_000_000,
      "Most HTTP connections to this node, without WebSockets."),
  HTTP_BYTES_IN_FLIGHT_MAX(
      BYTES,
      0,
      8 << 20,
      1L << 40,
      "Bytes of the bodies of HTTP requests that wait for answers; 0: a part of the heap."),
  METRICS_LABELS_MAX(
      NUMBER,
      200,
      0,
      10_000,
      "How many topics, and groups, have metrics of their own; the others are added up."),
  TRACING(
      TEXT,
      "",
      "URL of an OpenTelemetry collector to send spans to by OTLP over HTTP; empty: no spans.");

  /** The type of a value. */
  enum Type {
    TEXT("TEXT", "text"),
    NUMBER("N", "a whole number"),
    BYTES("SIZE", "a size such as 64KiB, 512MiB or 1GiB"),
    DURATION("TIME", "a duration such as 200ms, 5s, 2m or 1h"),
    FLAG("true|false", "true or false"),
    /** Texts with commas between them. In the file it may be a YAML list. */
    LIST("LIST", "a list with commas");

    /** The label in the help. */
    final String label;

    private final String right;

    Type(String label, String right) {
      this.label = label;
      this.right = right;
    }

    private String format(long value) {
      return switch (this) {
        case BYTES -> ByteSizes.format(value);
        case DURATION -> Durations.format(value);
        case NUMBER, TEXT, LIST, FLAG -> Long.toString(value);
      };
    }
  }

  private static final Map<String, NodeSetting> BY_KEY = new LinkedHashMap<>();

  static {
    for (NodeSetting each : values()) {
      BY_KEY.put(each.key(), each);
    }
  }

  final Type type;

  /** The default in the form that users write; empty: none. */
  final String defaultText;

  /** The help: one sentence. */
  final String help;

  private final long min;
  private final long max;

  /** Whether 0, which lies below the least value, leaves the choice to the node. */
  private final boolean zeroAllowed;

  NodeSetting(Type type, String defaultText, String help) {
    this(type, defaultText, 0, 0, false, help);
  }

  /** A number: the default and the bounds are plain numbers, bytes or milliseconds. */
  NodeSetting(Type type, long defaultValue, long min, long max, String help) {
    this(type, type.format(defaultValue), min, max, defaultValue < min, help);
  }

  NodeSetting(Type type, String defaultText, long min, long max, boolean zeroAllowed, String help) {
    this.type = type;
    this.defaultText = defaultText;
    this.min = min;
    this.max = max;
    this.zeroAllowed = zeroAllowed;
    this.help = help;
  }

  /** All settings, by their keys in the file. */
  static Map<String, NodeSetting> byKey() {
    return BY_KEY;
  }

  /** The key in the file; with {@code --} before it, the option on the command line. */
  String key() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  String environmentName() {
    return "EVENKEEL_" + name();
  }

  boolean allows(long value) {
    return value >= min && value <= max || zeroAllowed && value == 0;
  }

  /** The bounds for an error message; empty if there are none. */
  String bounds() {
    String range = max == 0 ? "" : "from " + type.format(min) + " to " + type.format(max);
    return zeroAllowed ? "0, or " + range : range;
  }

  /**
   * Parses a value: gives a String, a Long, a Boolean, or a List of String.
   *
   * @param raw a text, or the object that YAML made of it
   * @param source names the file, variable or command line in errors
   * @throws CommandFailure wrong usage, with the source, the key, the value and the bounds
   */
  Object parse(Object raw, String source) {
    if (raw instanceof List<?> many && type == Type.LIST) {
      return many.stream().map(String::valueOf).map(String::trim).toList();
    }
    if (raw == null || raw instanceof List<?>) {
      throw wrong(raw, source, type.right);
    }
    String text = String.valueOf(raw).trim();
    if (type == Type.TEXT) {
      return text;
    }
    if (type == Type.FLAG) {
      if (!text.equals("true") && !text.equals("false")) {
        throw wrong(raw, source, type.right);
      }
      return Boolean.valueOf(text);
    }
    if (type == Type.LIST) {
      return Arrays.stream(text.split(","))
          .map(String::trim)
          .filter(each -> !each.isEmpty())
          .toList();
    }
    long value;
    try {
      value =
          switch (type) {
            case NUMBER -> Long.parseLong(text);
            case BYTES -> ByteSizes.parse(text);
            case DURATION -> Durations.parseMillis(text);
            case TEXT, LIST, FLAG -> throw new AssertionError(type);
          };
    } catch (IllegalArgumentException | RefusedException | ArithmeticException e) {
      throw wrong(raw, source, type.right + " " + bounds());
    }
    if (!allows(value)) {
      throw wrong(raw, source, bounds());
    }
    return value;
  }

  Object defaultValue() {
    return parse(defaultText, "default");
  }

  private CommandFailure wrong(Object raw, String source, String right) {
    return CommandFailure.usage(source + ": " + key() + " is '" + raw + "': it must be " + right);
  }
}
