package dev.evenkeel.broker.node;

import static dev.evenkeel.protocol.Refusal.INVALID;

import dev.evenkeel.log.LogSettings;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Nearest;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * What a broker needs to run.
 *
 * @param log what the logs need; their directory is {@code raft} in {@code dataDirectory}
 * @param dataDirectory holds {@code raft} (logs), {@code bodies} (messages) and {@code live}
 *     (state); made if it is missing
 * @param segmentBytesMax size of a file of messages
 * @param rewriteBytesPerSecond how fast files of messages are rewritten to free space
 * @param tailBytesMax newest batches held in memory, all data log groups together
 * @param diskFreeBytesMin below this much free space, appends are refused DISK_FULL
 * @param scrub how the files of bodies are checked
 * @param clockMillis milliseconds since 1970
 * @param diskFreeBytes free space of the disk, or null to ask the file system
 */
public record BrokerSettings(
    LogSettings log,
    Path dataDirectory,
    long segmentBytesMax,
    long rewriteBytesPerSecond,
    long tailBytesMax,
    long diskFreeBytesMin,
    ScrubSettings scrub,
    LongSupplier clockMillis,
    LongSupplier diskFreeBytes) {

  /**
   * How the files of bodies are compared with their checksums in the background.
   *
   * @param bytesPerSecond how fast; 0: never
   * @param everyMillis pause between two passes
   */
  public record ScrubSettings(long bytesPerSecond, long everyMillis) {
    /** Some 5 % of what a disk can read. */
    public static final ScrubSettings DEFAULT = new ScrubSettings(16L << 20, 21_600_000);
  }

  public static final long SNAPSHOT_EVERY_BYTES = 512L << 20;
  public static final long SNAPSHOT_BYTES_PER_SECOND_MAX = 64L << 20;
  public static final long SEGMENT_BYTES_MAX = 64L << 20;
  public static final long REWRITE_BYTES_PER_SECOND = 16L << 20;
  public static final long DISK_FREE_BYTES_MIN = 256L << 20;

  public static final List<String> KEYS =
      List.of(
          "node",
          "data",
          "peers",
          "dataGroups",
          "snapshotEveryEntries",
          "snapshotEveryBytes",
          "segmentBytesMax",
          "snapshotBytesPerSecondMax",
          "rewriteBytesPerSecond",
          "tailBytesMax",
          "diskFreeBytesMin",
          "scrubBytesPerSecond",
          "scrubMillis");

  private static final List<String> PEER_KEYS = List.of("node", "host", "raftPort", "listenHost");

  public BrokerSettings {
    Names.check("node", log.nodeId());
  }

  /**
   * Settings from a verticle's configuration: see the verticle {@code BrokerVerticle}.
   *
   * @throws RefusedException INVALID, naming what is missing
   */
  public static BrokerSettings fromJson(JsonObject json) {
    List<LogSettings.Peer> peers = new ArrayList<>();
    JsonArray array = json.getJsonArray("peers", new JsonArray());
    for (int i = 0; i < array.size(); i++) {
      JsonObject peer = array.getJsonObject(i);
      Nearest.requireKnown("key of a peer", peer.fieldNames(), PEER_KEYS);
      String host = peer.getString("host", "localhost");
      peers.add(
          new LogSettings.Peer(
              required(peer, "node"),
              host,
              peer.getInteger("raftPort", 5703),
              peer.getString("listenHost", host)));
    }
    if (peers.isEmpty()) {
      throw INVALID.error("'peers' must list every node, this one too");
    }
    Path data = Path.of(required(json, "data"));
    HeapShares heap = HeapShares.ofThisProgram();
    return new BrokerSettings(
        new LogSettings(
            required(json, "node"),
            data.resolve("raft"),
            peers,
            json.getInteger("dataGroups", 0),
            json.getLong("snapshotEveryEntries", 0L),
            json.getLong("snapshotEveryBytes", SNAPSHOT_EVERY_BYTES),
            json.getLong("snapshotBytesPerSecondMax", SNAPSHOT_BYTES_PER_SECOND_MAX),
            heap.logBytes(),
            false,
            null),
        data,
        json.getLong("segmentBytesMax", SEGMENT_BYTES_MAX),
        json.getLong("rewriteBytesPerSecond", REWRITE_BYTES_PER_SECOND),
        json.getLong("tailBytesMax", heap.tailBytes()),
        json.getLong("diskFreeBytesMin", DISK_FREE_BYTES_MIN),
        new ScrubSettings(
            json.getLong("scrubBytesPerSecond", ScrubSettings.DEFAULT.bytesPerSecond()),
            json.getLong("scrubMillis", ScrubSettings.DEFAULT.everyMillis())),
        System::currentTimeMillis,
        null);
  }

  private static String required(JsonObject json, String key) {
    String value = json.getString(key);
    if (value == null) {
      throw INVALID.error("the broker's configuration lacks '" + key + "'");
    }
    return value;
  }
}
