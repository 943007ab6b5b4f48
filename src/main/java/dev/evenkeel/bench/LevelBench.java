package dev.evenkeel.bench;

import dev.evenkeel.cli.ClientConnection;
import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.Table;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.protocol.GroupPolicy;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code evenkeel bench level}. */
@Command(
    name = "level",
    mixinStandardHelpOptions = true,
    description = {
      "What it costs that consumers stay level.",
      "A topic is filled first. Then groups of equal consumers read it, one after another: in mode"
          + " sharded with order none, and in mode level with each strategy. The ratio is to"
          + " sharded, of the same run."
    },
    footer = {
      "",
      "Examples:",
      "  evenkeel bench level",
      "  evenkeel bench level --range 10 --work 5ms",
      "  evenkeel bench level --curve --work 0ms --messages 1000000 --format json"
    })
final class LevelBench implements Callable<Integer> {
  private static final List<Integer> CURVE = List.of(1, 10, 100, 1_000, 10_000);

  @ParentCommand private BenchCommand bench;

  @Mixin private BenchOptions options;

  @Mixin private ProducersOption producersOption;

  @Option(
      names = "--consumers",
      paramLabel = "N",
      defaultValue = "4",
      description =
          "Members of each group, in this program, each with its own connection (default:"
              + " ${DEFAULT-VALUE}).")
  private int consumers;

  @Option(
      names = "--messages",
      paramLabel = "N",
      defaultValue = "300000",
      description = "Messages in the topic (default: ${DEFAULT-VALUE}).")
  private long messages;

  @Option(
      names = "--range",
      paramLabel = "N",
      defaultValue = "100",
      description = "Largest difference in finished messages (default: ${DEFAULT-VALUE}).")
  private int range;

  @Option(
      names = "--curve",
      description = "Measure the ranges 1, 10, 100, 1,000 and 10,000 instead of one.")
  private boolean curve;

  @Option(
      names = "--work",
      paramLabel = "TIME",
      defaultValue = "1ms",
      description =
          "How long a handler takes, without blocking; 0ms: it does nothing (default:"
              + " ${DEFAULT-VALUE}).")
  private String work;

  @Option(
      names = "--parallel",
      paramLabel = "N",
      defaultValue = "16",
      description = "Handlers of a consumer that run at once, at most (default: ${DEFAULT-VALUE}).")
  private int parallel;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      defaultValue = "15s",
      description =
          "How long each group is measured at most; it may end before the last message (default:"
              + " ${DEFAULT-VALUE}).")
  private String duration;

  @Option(
      names = "--warmup",
      paramLabel = "TIME",
      defaultValue = "3s",
      description = "For how long a group of each kind reads first (default: ${DEFAULT-VALUE}).")
  private String warmup;

  @Override
  public Integer call() throws InterruptedException {
    options.check();
    int producers = producersOption.checked();
    BenchOptions.range("--consumers", consumers, 1, 100);
    BenchOptions.range("--messages", messages, 1, 1_000_000_000L);
    BenchOptions.range("--range", range, 1, GroupPolicy.RANGE_MAX);
    BenchOptions.range("--parallel", parallel, 1, 10_000);
    long workMillis = BenchOptions.millis("--work", work);
    long millisMax = BenchOptions.millis("--duration", duration);
    if (millisMax == 0) {
      throw CommandFailure.usage("--duration '" + duration + "': it must be above 0");
    }
    long warmupMillis = BenchOptions.millis("--warmup", warmup);
    bench.logging();
    try (Target opened = bench.open(options)) {
      if (!(opened instanceof EvenkeelTarget target)) {
        throw CommandFailure.usage("level is measured of Evenkeel only");
      }
      String topic = BenchRun.newTopic(target, options);
      List<Target.Sender> senders = BenchRun.senders(target, topic, producers);
      ProduceLoad.Outcome filled =
          new ProduceLoad(
                  senders,
                  new Payloads(options.sizeBytes(), options.keys(), 1),
                  options.inFlightMessages())
              .run(Amount.messages(messages));
      senders.forEach(Target.Sender::close);
      if (filled.failed() > 0) {
        return BenchRun.status(filled);
      }
      List<EvenkeelClient> clients = LevelLoad.connect(target.seeds(), consumers);
      try {
        LevelLoad load = new LevelLoad(clients, topic, messages, workMillis, parallel);
        measure(target, load, topic, workMillis, warmupMillis, millisMax);
      } finally {
        clients.forEach(ClientConnection::close);
      }
      return ExitStatus.DONE;
    }
  }

  private void measure(
      EvenkeelTarget target,
      LevelLoad load,
      String topic,
      long workMillis,
      long warmupMillis,
      long millisMax)
      throws InterruptedException {
    List<ConsumerOptions> modes = modes(curve ? CURVE : List.of(range));
    if (warmupMillis > 0) {
      List<ConsumerOptions> kinds = modes(List.of(range));
      for (int i = 0; i < kinds.size(); i++) {
        load.run(topic + "-warmup-" + i, kinds.get(i), warmupMillis);
      }
    }
    Table table =
        new Table("MODE", "STRATEGY", "RANGE", "MESSAGES/S", "OF SHARDED", "LEAST", "MOST");
    JsonArray runs = new JsonArray();
    double sharded = 0;
    for (int i = 0; i < modes.size(); i++) {
      ConsumerOptions mode = modes.get(i);
      boolean level = mode.getMode() == ConsumerOptions.Mode.LEVEL;
      LevelLoad.Outcome outcome = load.run(topic + "-" + i, mode, millisMax);
      sharded = i == 0 ? outcome.perSecond() : sharded;
      double ratio = BenchRun.rounded(outcome.perSecond() / sharded);
      String strategy = level ? mode.getStrategy().name().toLowerCase(Locale.ROOT) : null;
      Integer ofRange = level ? (Integer) mode.getRange() : null;
      table.row(
          level ? "level" : "sharded",
          strategy,
          ofRange,
          Math.round(outcome.perSecond()),
          ratio,
          outcome.least(),
          outcome.most());
      runs.add(
          new JsonObject()
              .put("mode", level ? "level" : "sharded")
              .put("strategy", strategy)
              .put("range", ofRange)
              .put("finished", outcome.finished())
              .put("seconds", BenchRun.rounded(outcome.nanos() / 1e9))
              .put("messagesPerSecond", Math.round(outcome.perSecond()))
              .put("ofSharded", ratio)
              .put("least", outcome.least())
              .put("most", outcome.most()));
    }
    options.print(
        table.text(),
        BenchRun.result("level", target, options)
            .put("consumers", consumers)
            .put("messages", messages)
            .put("workMillis", workMillis)
            .put("parallel", parallel)
            .put("runs", runs));
  }

  /** Sharded first: the others are compared with it. */
  private static List<ConsumerOptions> modes(List<Integer> ranges) {
    List<ConsumerOptions> modes = new ArrayList<>();
    modes.add(new ConsumerOptions());
    for (ConsumerOptions.Strategy strategy : ConsumerOptions.Strategy.values()) {
      for (int each : ranges) {
        modes.add(
            new ConsumerOptions()
                .setMode(ConsumerOptions.Mode.LEVEL)
                .setStrategy(strategy)
                .setRange(each));
      }
    }
    return modes;
  }
}
