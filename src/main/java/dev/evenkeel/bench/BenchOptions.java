package dev.evenkeel.bench;

import dev.evenkeel.cli.ByteSizes;
import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.OptionFormats;
import dev.evenkeel.client.Acks;
import dev.evenkeel.client.internal.produce.core.SendBuffer;
import dev.evenkeel.protocol.Limits;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** What all loads have in common: against what, and with which messages. */
public final class BenchOptions {
  enum Format {
    text,
    json
  }

  private static final int NODES_MAX = 3;
  private static final int CLIENTS_MAX = 1_000;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  private boolean threeOwnNodes;

  /** Own nodes or a running cluster. */
  private static final class Where {
    @Option(
        names = "--nodes",
        paramLabel = "1|3",
        description =
            "Start so many nodes for the run, each in a JVM of its own, and remove them after it"
                + " (default: 1).")
    private Integer nodes;

    @Option(
        names = "--cluster",
        paramLabel = "HOST:PORT",
        split = ",",
        description = "Use the running cluster with these nodes; a topic bench-... stays there.")
    private List<String> cluster;
  }

  @ArgGroup private Where where;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description =
          "Where own nodes keep their data, in a directory that is removed at the end"
              + " (default: the system's directory for temporary files; see that it is on the disk"
              + " you mean, not in memory).")
  private Path data;

  @Option(
      names = "--node-jvm",
      paramLabel = "OPTIONS",
      defaultValue = "",
      description = "Options for the JVMs of own nodes, such as '-Xmx1g -Xms1g' (default: none).")
  private String nodeJvm;

  @Option(
      names = "--size",
      paramLabel = "SIZE",
      converter = OptionFormats.Size.class,
      defaultValue = "100B",
      description = "Payload of a message: 100B, 1KiB (default: ${DEFAULT-VALUE}).")
  private long sizeBytes;

  @Option(
      names = "--keys",
      paramLabel = "N",
      defaultValue = "0",
      description =
          "How many different keys; 0: messages have none and go round robin by batch"
              + " (default: ${DEFAULT-VALUE}).")
  private int keys;

  @Option(
      names = "--shards",
      paramLabel = "N",
      defaultValue = "12",
      description = "Shards of the topic (default: ${DEFAULT-VALUE}).")
  private int shards;

  @Option(
      names = "--in-flight",
      paramLabel = "SIZE",
      converter = OptionFormats.Size.class,
      defaultValue = "8MiB",
      description =
          "Payload that is sent and not yet acknowledged, of all producers together, at most"
              + " (default: ${DEFAULT-VALUE}).")
  private long inFlightBytes;

  @Option(
      names = "--linger",
      paramLabel = "TIME",
      converter = OptionFormats.Time.class,
      description = "How long a producer waits for a fuller batch (default: as it comes).")
  private Long lingerMillis;

  @Option(
      names = "--batch",
      paramLabel = "SIZE",
      converter = OptionFormats.Size.class,
      description = "Largest batch of a producer and shard (default: as it comes).")
  private Long batchBytes;

  @Option(
      names = "--acks",
      paramLabel = "none|majority|all",
      defaultValue = "majority",
      description =
          "When a message counts as acknowledged: it is sent, or a majority of the replicas has it"
              + " on disk, fsynced, or all have (default: ${DEFAULT-VALUE}).")
  private Acks acks;

  @Option(
      names = "--format",
      paramLabel = "text|json",
      defaultValue = "text",
      description =
          "text: a table, and the line of JSON below it; json: the line alone"
              + " (default: ${DEFAULT-VALUE}).")
  private Format format;

  /** How many producers a load has. */
  static final class Producers {
    @Option(
        names = "--producers",
        paramLabel = "N",
        defaultValue = "1",
        description = "Producers that share the load (default: ${DEFAULT-VALUE}).")
    int count;

    void check() {
      OptionFormats.range("--producers", count, 1, CLIENTS_MAX);
    }
  }

  /** How many consumers a load has. */
  static final class Consumers {
    @Option(
        names = "--consumers",
        paramLabel = "N",
        defaultValue = "1",
        description = "Members of the group (default: ${DEFAULT-VALUE}).")
    int count;

    void check() {
      OptionFormats.range("--consumers", count, 1, CLIENTS_MAX);
    }
  }

  /** For loads that end nodes. */
  static BenchOptions ofThreeOwnNodes() {
    BenchOptions options = new BenchOptions();
    options.threeOwnNodes = true;
    return options;
  }

  /**
   * To be called before anything is started.
   *
   * @throws CommandFailure wrong usage
   */
  void check() {
    if (threeOwnNodes && cluster() != null) {
      throw CommandFailure.usage("--cluster: this kills nodes, so it works with its own only");
    }
    if (threeOwnNodes && nodes() != NODES_MAX) {
      throw CommandFailure.usage("--nodes " + nodes() + ": what survives a kill needs 3");
    }
    if (nodes() != 1 && nodes() != NODES_MAX) {
      throw CommandFailure.usage("--nodes " + nodes() + ": it must be 1 or 3");
    }
    OptionFormats.range("--keys", keys, 0, 10_000_000);
    OptionFormats.range("--shards", shards, 1, Limits.SHARDS_MAX);
    if (sizeBytes > Limits.PAYLOAD_BYTES_MAX) {
      throw CommandFailure.usage(
          "--size "
              + ByteSizes.format(sizeBytes)
              + ": it must be at most "
              + ByteSizes.format(Limits.PAYLOAD_BYTES_MAX));
    }
    if (batchBytes != null) {
      OptionFormats.range("--batch", batchBytes, 1, Limits.BATCH_BYTES_MAX);
    }
  }

  /**
   * @param why what the first bytes of a message are for
   * @throws CommandFailure wrong usage, if a message is smaller
   */
  void needBytes(int bytes, String why) {
    if (sizeBytes < bytes) {
      throw CommandFailure.usage("--size: " + why + ", so it needs " + bytes + " bytes or more");
    }
  }

  /** Of the benchmark. */
  String name() {
    return spec.name();
  }

  int nodes() {
    return where == null || where.nodes == null ? (threeOwnNodes ? NODES_MAX : 1) : where.nodes;
  }

  /** Null: own nodes are to be started. */
  List<String> cluster() {
    return where == null ? null : where.cluster;
  }

  Path data() {
    return data == null ? Path.of(System.getProperty("java.io.tmpdir")) : data;
  }

  List<String> nodeJvmOptions() {
    return jvmOptions(nodeJvm);
  }

  /** The single options in {@code text}, which are parted by spaces. */
  static List<String> jvmOptions(String text) {
    return text.isBlank() ? List.of() : List.of(text.trim().split("\\s+"));
  }

  Acks acks() {
    return acks;
  }

  int sizeBytes() {
    return (int) sizeBytes;
  }

  double mebibytes(double messages) {
    return Stats.rounded(messages * sizeBytes / (1 << 20));
  }

  int keys() {
    return keys;
  }

  int shards() {
    return shards;
  }

  long inFlightMessages() {
    long messages = Math.max(1, inFlightBytes / Math.max(1, sizeBytes));
    // What is sent is in flight no more then; beyond that only so many may wait for room.
    return acks == Acks.NONE ? Math.min(messages, SendBuffer.WAITING_SENDS_MAX) : messages;
  }

  /** Null: as it comes. */
  Integer batchBytes() {
    return batchBytes == null ? null : (Integer) batchBytes.intValue();
  }

  /** Null: as it comes. */
  Long lingerMillis() {
    return lingerMillis;
  }

  /** The facts of the load that every result names. */
  JsonObject describe() {
    return new JsonObject()
        .put("sizeBytes", sizeBytes)
        .put("keys", keys)
        .put("shards", shards)
        .put("inFlightMessages", inFlightMessages())
        .put("batchBytes", batchBytes)
        .put("lingerMillis", lingerMillis);
  }

  /** Prints a result: the table if it is wanted, and the line of JSON. */
  void print(String table, JsonObject json) {
    var out = spec.commandLine().getOut();
    if (format == Format.text) {
      out.println(table);
    }
    out.println(json.encode());
    out.flush();
  }
}
