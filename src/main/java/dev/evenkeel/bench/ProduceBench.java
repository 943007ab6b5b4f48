package dev.evenkeel.bench;

import dev.evenkeel.cli.Table;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code evenkeel bench produce}. */
@Command(
    name = "produce",
    mixinStandardHelpOptions = true,
    description = {
      "How many messages a second are taken and acknowledged.",
      "Each producer sends from a thread of its own until --in-flight is reached, and goes on"
          + " when answers come. The time is from the first message to the last answer."
    },
    footer = {
      "",
      "Examples:",
      "  evenkeel bench produce",
      "  evenkeel bench produce --size 1KiB --producers 4 --duration 30s",
      "  evenkeel bench produce --messages 5000000 --format json",
      "  evenkeel bench produce --cluster 10.0.0.1:5701,10.0.0.2:5701"
    })
final class ProduceBench implements Callable<Integer> {
  @ParentCommand private BenchCommand bench;

  @Mixin private BenchOptions options;

  @Mixin private ProducersOption producersOption;

  @Option(
      names = "--messages",
      paramLabel = "N",
      description = "Send so many messages, instead of for a time.")
  private Long messages;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      defaultValue = "10s",
      description = "Send for so long (default: ${DEFAULT-VALUE}).")
  private String duration;

  @Option(
      names = "--warmup",
      paramLabel = "TIME",
      defaultValue = "5s",
      description = "Send for so long before anything is counted (default: ${DEFAULT-VALUE}).")
  private String warmup;

  @Override
  public Integer call() throws InterruptedException {
    options.check();
    int producers = producersOption.checked();
    Amount amount = BenchRun.amount(messages, duration);
    Amount before = Amount.millis(BenchOptions.millis("--warmup", warmup));
    bench.logging();
    try (Target target = bench.open(options)) {
      String topic = BenchRun.newTopic(target, options);
      List<Target.Sender> senders = BenchRun.senders(target, topic, producers);
      ProduceLoad load =
          new ProduceLoad(
              senders,
              new Payloads(options.sizeBytes(), options.keys(), 1),
              options.inFlightMessages());
      ProduceLoad.Outcome warm = load.run(before);
      ProduceLoad.Outcome outcome = load.run(amount);
      senders.forEach(Target.Sender::close);
      long stored = target.stored(topic);
      double mebibytes = outcome.perSecond() * options.sizeBytes() / (1 << 20);
      JsonObject json =
          BenchRun.result("produce", target, options)
              .put("producers", producers)
              .put("warmupMessages", warm.sent())
              .put("sent", outcome.sent())
              .put("acked", outcome.acked())
              .put("failed", outcome.failed())
              .put("stored", stored < 0 ? null : stored - warm.acked())
              .put("seconds", BenchRun.rounded(outcome.nanos() / 1e9))
              .put("messagesPerSecond", Math.round(outcome.perSecond()))
              .put("mebibytesPerSecond", BenchRun.rounded(mebibytes));
      Table table =
          new Table("MESSAGES/S", "MIB/S", "ACKED", "SENT", "SECONDS")
              .row(
                  Math.round(outcome.perSecond()),
                  BenchRun.rounded(mebibytes),
                  outcome.acked(),
                  outcome.sent(),
                  BenchRun.rounded(outcome.nanos() / 1e9));
      options.print(table.text(), json);
      return BenchRun.status(outcome);
    }
  }
}
