package dev.evenkeel.broker.node;

import static dev.evenkeel.protocol.Refusal.INVALID;

import dev.evenkeel.log.LogSettings;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.settings.Setting;
import dev.evenkeel.settings.SettingType;
import dev.evenkeel.settings.SettingValues;
import dev.evenkeel.settings.Settings;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** Configuration of the broker's verticle, as JSON. */
public final class BrokerOptions extends SettingValues<BrokerOptions> {
  private static final List<String> PEER_KEYS = List.of("node", "host", "raftPort", "listenHost");

  /** All of them. */
  public static final Settings SETTINGS = new Settings("configuration key");

  public static final Setting<String> NODE = SETTINGS.text("node").help("Id of this node.");

  public static final Setting<String> DATA =
      SETTINGS.text("data").help("Directory for messages, logs and state.");

  static final Setting<List<LogSettings.Peer>> PEERS =
      SETTINGS
          .add("peers", SettingType.json(BrokerOptions::peer, BrokerOptions::json).list())
          .help("Every node, this one too.");

  public static final Setting<Integer> DATA_GROUPS =
      SETTINGS
          .integer("dataGroups")
          .unless(0)
          .from(0)
          .to(256)
          .help("Log groups of a new cluster; 0: depends on its size.");

  public static final Setting<Long> SNAPSHOT_EVERY_ENTRIES =
      SETTINGS
          .number("snapshotEveryEntries")
          .unless(0L)
          .from(100)
          .to(100_000_000)
          .orZero()
          .help("Log entries between snapshots; 0: depends on the heap, at most 100000.");

  public static final Setting<Long> SNAPSHOT_EVERY_BYTES =
      SETTINGS
          .size("snapshotEveryBytes")
          .unless(512L << 20)
          .from(1 << 20)
          .to(1L << 40)
          .help("Bytes of messages between snapshots.");

  public static final Setting<Long> SNAPSHOT_BYTES_PER_SECOND_MAX =
      SETTINGS
          .size("snapshotBytesPerSecondMax")
          .unless(64L << 20)
          .from(1 << 20)
          .to(1L << 40)
          .help("How fast the node copies snapshots of other nodes.");

  public static final Setting<Long> SEGMENT_BYTES_MAX =
      SETTINGS
          .size("segmentBytesMax")
          .unless(64L << 20)
          .from(1 << 20)
          .to(1 << 30)
          .help("Size of a segment, a file with messages of a log group.");

  public static final Setting<Long> REWRITE_BYTES_PER_SECOND =
      SETTINGS
          .size("rewriteBytesPerSecond")
          .unless(16L << 20)
          .from(1 << 10)
          .to(1 << 30)
          .help("How fast the node rewrites segments to free the space of dropped messages.");

  /** The default is some 5 % of what a disk can read. */
  public static final Setting<Long> SCRUB_BYTES_PER_SECOND =
      SETTINGS
          .size("scrubBytesPerSecond")
          .unless(16L << 20)
          .from(0)
          .to(1L << 40)
          .help("How fast the node checks stored messages for damage; 0: never.");

  public static final Setting<Long> SCRUB_MILLIS =
      SETTINGS
          .time("scrubMillis")
          .unless(21_600_000L)
          .from(1_000)
          .to(30L * 86_400_000)
          .help("The pause between two checks of all stored messages.");

  public static final Setting<Long> TAIL_BYTES_MAX =
      SETTINGS
          .size("tailBytesMax")
          .from(1 << 20)
          .to(16L << 30)
          .help("Memory for the newest batches of all log groups.");

  public static final Setting<Long> DISK_FREE_BYTES_MIN =
      SETTINGS
          .size("diskFreeBytesMin")
          .unless(256L << 20)
          .from(0)
          .to(1L << 50)
          .help("The node refuses appends when less disk space is free.");

  public static final Setting<Integer> ENTRIES_IN_FLIGHT_MAX =
      SETTINGS
          .integer("entriesInFlightMax")
          .unless(3)
          .from(1)
          .to(16)
          .help("Append entries in flight, for each log group.");

  public static final Setting<Long> APPEND_BYTES_WAITING_MAX =
      SETTINGS
          .size("appendBytesWaitingMax")
          .unless(0L)
          .from(0)
          .to(1L << 40)
          .help("Bytes of appends not answered yet, for each log group; 0: a part of the heap.");

  public static final Setting<Integer> FETCHES_WAITING_MAX =
      SETTINGS
          .integer("fetchesWaitingMax")
          .unless(100_000)
          .from(0)
          .help("Most fetches that wait for new messages at a time.");

  public static final Setting<Long> FETCHES_WAITING_BYTES_MAX =
      SETTINGS
          .size("fetchesWaitingBytesMax")
          .unless(0L)
          .from(0)
          .to(1L << 40)
          .help("Memory of those fetches with their filters; 0: a part of the heap.");

  public static final Setting<Long> PROCEDURE_MILLIS_MAX =
      SETTINGS
          .time("procedureMillisMax")
          .unless(10_000L)
          .from(1)
          .to(600_000)
          .help("How long a request waits until its topic is created, changed or deleted.");

  public static final Setting<Long> RECONCILE_MILLIS =
      SETTINGS
          .time("reconcileMillis")
          .unless(2_000L)
          .from(1)
          .to(600_000)
          .help("How often the broker continues unfinished work on topics.");

  public static final Setting<Boolean> DISPATCHER =
      SETTINGS
          .flag("dispatcher")
          .unless(true)
          .help("Whether a dispatcher runs on the same node, so that the node may lead meta.");

  public static final Setting<String> ENGINES =
      SETTINGS
          .text("engines")
          .help("Class that implements Engines, if the class path has several.");

  /**
   * @throws RefusedException INVALID for an unknown key, or a value that is wrong
   */
  public BrokerOptions(JsonObject json) {
    super(SETTINGS, json);
    check();
  }

  private static LogSettings.Peer peer(Object json) {
    JsonObject peer = (JsonObject) json;
    Names.requireKnown("key of a peer", peer.fieldNames(), PEER_KEYS);
    String node = peer.getString("node");
    if (node == null) {
      throw INVALID.error("a peer lacks 'node'");
    }
    String host = peer.getString("host", "localhost");
    return new LogSettings.Peer(
        node, host, peer.getInteger("raftPort", 5703), peer.getString("listenHost", host));
  }

  private static Object json(LogSettings.Peer peer) {
    return new JsonObject()
        .put("node", peer.nodeId())
        .put("host", peer.host())
        .put("raftPort", peer.raftPort())
        .put("listenHost", peer.listenHost());
  }
}
