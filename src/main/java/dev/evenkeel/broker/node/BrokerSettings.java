package dev.evenkeel.broker.node;

import static dev.evenkeel.protocol.Refusal.INVALID;

import dev.evenkeel.log.LogSettings;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.settings.Setting;
import dev.evenkeel.util.tls.TlsIdentity;
import java.nio.file.Path;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * What a broker needs to run.
 *
 * @param log what the logs need; their directory is {@code raft} in {@code dataDirectory}
 * @param dataDirectory holds {@code raft} (logs), {@code bodies} (messages) and {@code live}
 *     (state); made if it is missing
 * @param tailBytesMax newest batches held in memory, all data log groups together
 * @param options how it stores
 * @param clockMillis milliseconds since 1970
 * @param diskFreeBytes free space of the disk, or null to ask the file system
 */
public record BrokerSettings(
    LogSettings log,
    Path dataDirectory,
    long tailBytesMax,
    BrokerOptions options,
    LongSupplier clockMillis,
    LongSupplier diskFreeBytes) {

  public BrokerSettings {
    Names.check("node", log.nodeId());
  }

  /**
   * Settings from a verticle's configuration.
   *
   * @throws RefusedException INVALID, naming what is missing
   */
  public static BrokerSettings of(BrokerOptions options) {
    required(options, BrokerOptions.NODE);
    required(options, BrokerOptions.DATA);
    List<LogSettings.Peer> peers = options.get(BrokerOptions.PEERS);
    if (peers == null || peers.isEmpty()) {
      throw INVALID.error("'peers' must list every node, this one too");
    }
    return of(options, peers, HeapShares.ofThisProgram(), false, null);
  }

  /**
   * @param joins whether an empty directory waits until a running cluster takes this node in
   * @param tls what it shows other nodes; null: connections are not encrypted
   */
  public static BrokerSettings of(
      BrokerOptions options,
      List<LogSettings.Peer> peers,
      HeapShares heap,
      boolean joins,
      TlsIdentity tls) {
    Path data = Path.of(options.get(BrokerOptions.DATA));
    Long tail = options.get(BrokerOptions.TAIL_BYTES_MAX);
    LogSettings log =
        new LogSettings(
            options.get(BrokerOptions.NODE),
            data.resolve("raft"),
            peers,
            options.get(BrokerOptions.DATA_GROUPS),
            options.get(BrokerOptions.SNAPSHOT_EVERY_ENTRIES),
            options.get(BrokerOptions.SNAPSHOT_EVERY_BYTES),
            options.get(BrokerOptions.SNAPSHOT_BYTES_PER_SECOND_MAX),
            heap.logBytes(),
            joins,
            tls);
    return new BrokerSettings(
        log,
        data,
        tail == null ? heap.tailBytes() : tail,
        options,
        System::currentTimeMillis,
        null);
  }

  private static void required(BrokerOptions options, Setting<String> setting) {
    if (options.get(setting) == null) {
      throw INVALID.error("the broker's configuration lacks '%s'", setting);
    }
  }
}
