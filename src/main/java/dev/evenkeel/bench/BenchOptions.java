package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.CommandOptions;
import dev.evenkeel.cli.CredentialOptions;
import dev.evenkeel.cli.OptionFormats;
import dev.evenkeel.client.Acks;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.internal.produce.core.SendBuffer;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.settings.ByteSizes;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options of all benchmarks: the target and the messages. */
public final class BenchOptions {
  enum Format {
    text,
    json
  }

  private static final int NODES_MAX = 3;
  private static final int CLIENTS_MAX = 1_000;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  private final boolean threeOwnNodes;

  /** The target: own nodes or a running cluster. */
  private static final class Where {
    @Option(
        names = "--nodes",
        paramLabel = "1|3",
        description =
            "Start this many nodes for the run, each in a JVM of its own, and remove them"
                + " afterwards (default: 1).")
    private Integer nodes;

    @Option(
        names = "--cluster",
        paramLabel = "HOST:PORT",
        split = ",",
        description = "Use the running cluster with these nodes. The topic bench-... stays there.")
    private List<String> cluster;
  }

  @ArgGroup private Where where;

  @Mixin private CredentialOptions credentials;

  /** All options except those of {@link Where}; each benchmark adds its own. */
  final CommandOptions flags = new CommandOptions();

  private final Supplier<Path> data =
      flags.directory(
          "--data",
          "Where own nodes keep their data, in a directory that is removed at the end (default: the"
              + " system's directory for temporary files, which may be in memory).");

  private final Supplier<String> nodeJvm =
      flags.text(
          "--node-jvm",
          "OPTIONS",
          "Options for the JVMs of own nodes, such as '-Xmx1g -Xms1g' (default: none).");

  private final Supplier<Long> sizeBytes =
      flags.size("--size", "100B", "Payload of a message: 100B, 1KiB");

  final Supplier<Integer> keys =
      flags.integer(
          "--keys",
          "0",
          0,
          10_000_000,
          "How many different keys; 0: messages have no keys and go round robin by batch");

  final Supplier<Integer> shards =
      flags.integer("--shards", "12", 1, Limits.SHARDS_MAX, "Shards of the topic");

  private final Supplier<Long> inFlightBytes =
      flags.size(
          "--in-flight", "8MiB", "Unacknowledged payload of all producers together, at most");

  /** Null: the default. */
  final Supplier<Long> lingerMillis =
      flags.time(
          "--linger", "How long a producer waits for a fuller batch (default: the producer's).");

  /** Null: the default. */
  final Supplier<Long> batchBytes =
      flags.size(
          "--batch", null, "Largest batch of a producer for a shard (default: the producer's).");

  final Supplier<Compression> compression =
      flags.constant(
          "--compression",
          "none|lz4|zstd",
          Compression.class,
          "none",
          "How producers compress their batches; with lz4 and zstd payloads are text, else random"
              + " bytes");

  final Supplier<Acks> acks =
      flags.constant(
          "--acks",
          "none|majority|all",
          Acks.class,
          "majority",
          "When a message counts as acknowledged: when it is sent, or when a majority or all of the"
              + " replicas have it on disk, fsynced");

  private final Supplier<Format> format =
      flags.constant(
          "--format",
          "text|json",
          Format.class,
          "text",
          "text: a table, and a line of JSON below it; json: the line alone");

  /** Adds the option {@code --producers}. */
  Supplier<Integer> producers() {
    return flags.integer("--producers", "1", 1, CLIENTS_MAX, "Producers that share the load");
  }

  /** Adds the option {@code --consumers}. */
  Supplier<Integer> consumers() {
    return flags.integer("--consumers", "1", 1, CLIENTS_MAX, "Members of the group");
  }

  /** Adds the option {@code --warmup}, in milliseconds. */
  Supplier<Long> warmup(String unset) {
    return flags.time("--warmup", unset, "How long to send before anything is counted");
  }

  /**
   * @param threeOwnNodes whether the benchmark kills nodes and so needs three of its own
   */
  BenchOptions(boolean threeOwnNodes) {
    this.threeOwnNodes = threeOwnNodes;
  }

  /**
   * Checks the options. Call it before anything is started.
   *
   * @throws CommandFailure wrong usage
   */
  void check() {
    CommandFailure.refuseIf(
        threeOwnNodes && cluster() != null,
        "--cluster: this kills nodes, so it works with its own only");
    CommandFailure.refuseIf(
        threeOwnNodes && nodes() != NODES_MAX,
        "--nodes " + nodes() + ": what survives a kill needs 3");
    CommandFailure.refuseIf(
        nodes() != 1 && nodes() != NODES_MAX, "--nodes " + nodes() + ": it must be 1 or 3");
    CommandFailure.refuseIf(
        sizeBytes.get() > Limits.PAYLOAD_BYTES_MAX,
        "--size %s: it must be at most %s"
            .formatted(
                ByteSizes.format(sizeBytes.get()), ByteSizes.format(Limits.PAYLOAD_BYTES_MAX)));
    if (batchBytes.get() != null) {
      OptionFormats.range("--batch", batchBytes.get(), 1, Limits.BATCH_BYTES_MAX);
    }
  }

  /**
   * @param why what a message needs the bytes for
   * @throws CommandFailure wrong usage, if a message is smaller
   */
  void needBytes(int bytes, String why) {
    CommandFailure.refuseIf(
        sizeBytes.get() < bytes, "--size: " + why + ", so it needs " + bytes + " bytes or more");
  }

  /** The name of the benchmark. */
  String name() {
    return spec.name();
  }

  int nodes() {
    return where == null || where.nodes == null ? (threeOwnNodes ? NODES_MAX : 1) : where.nodes;
  }

  /** The nodes of a running cluster; null: start own nodes. */
  List<String> cluster() {
    return where == null ? null : where.cluster;
  }

  /** What the running cluster is shown; own nodes need nothing. */
  ClientOptions on(ClientOptions client) {
    return cluster() == null ? client : credentials.on(client);
  }

  Path data() {
    return data.get() == null ? Path.of(System.getProperty("java.io.tmpdir")) : data.get();
  }

  List<String> nodeJvmOptions() {
    return jvmOptions(nodeJvm.get());
  }

  /** Splits JVM options at spaces; null: none. */
  static List<String> jvmOptions(String text) {
    return text == null || text.isBlank() ? List.of() : List.of(text.trim().split("\\s+"));
  }

  int sizeBytes() {
    return sizeBytes.get().intValue();
  }

  double mebibytes(double messages) {
    return Stats.rounded(messages * sizeBytes.get() / (1 << 20));
  }

  long inFlightMessages() {
    long messages = Math.max(1, inFlightBytes.get() / Math.max(1, sizeBytes.get()));
    // With acks none a message that is sent is no longer in flight; this bounds those that wait.
    return acks.get() == Acks.NONE ? Math.min(messages, SendBuffer.WAITING_SENDS_MAX) : messages;
  }

  /** The options that every result contains. */
  JsonObject describe() {
    return new JsonObject()
        .put("sizeBytes", sizeBytes.get())
        .put("keys", keys.get())
        .put("shards", shards.get())
        .put("inFlightMessages", inFlightMessages())
        .put("batchBytes", batchBytes.get())
        .put("lingerMillis", lingerMillis.get())
        .put("compression", compression.get().name().toLowerCase(Locale.ROOT));
  }

  /** Prints a result as the format says: the table and the line of JSON, or the line alone. */
  void print(String table, JsonObject json) {
    var out = spec.commandLine().getOut();
    if (format.get() == Format.text) {
      out.println(table);
    }
    out.println(json.encode());
    out.flush();
  }
}
