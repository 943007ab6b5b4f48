package dev.evenkeel.bench;

import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.Table;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code evenkeel bench consume}. */
@Command(
    name = "consume",
    mixinStandardHelpOptions = true,
    description = {
      "How many messages a second a group reads.",
      "A topic is filled first. Then one group reads it to warm up, and another is measured, from"
          + " its first message to its last."
    },
    footer = {
      "",
      "Examples:",
      "  evenkeel bench consume",
      "  evenkeel bench consume --messages 5000000 --consumers 3",
      "  evenkeel bench consume --size 1KiB --messages 500000 --format json"
    })
final class ConsumeBench implements Callable<Integer> {
  @ParentCommand private BenchCommand bench;

  @Mixin private BenchOptions options;

  @Mixin private ProducersOption producersOption;

  @Mixin private ConsumersOption consumersOption;

  @Option(
      names = "--messages",
      paramLabel = "N",
      defaultValue = "1000000",
      description = "Messages in the topic (default: ${DEFAULT-VALUE}).")
  private long messages;

  @Option(
      names = "--warmup",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "Groups that read the topic before anything is counted" + " (default: ${DEFAULT-VALUE}).")
  private int warmup;

  @Override
  public Integer call() throws InterruptedException {
    options.check();
    int producers = producersOption.checked();
    int consumers = consumersOption.checked();
    BenchOptions.range("--messages", messages, 1, 10_000_000_000L);
    BenchOptions.range("--warmup", warmup, 0, 100);
    bench.logging();
    try (Target target = bench.open(options)) {
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
      ConsumeLoad load = new ConsumeLoad(target, topic, consumers, messages);
      for (int i = 0; i < warmup; i++) {
        load.run(topic + "-warmup-" + i);
      }
      ConsumeLoad.Outcome outcome = load.run(topic + "-measured");
      double mebibytes = outcome.perSecond() * options.sizeBytes() / (1 << 20);
      JsonObject json =
          BenchRun.result("consume", target, options)
              .put("consumers", consumers)
              .put("messages", messages)
              .put("received", outcome.received())
              .put("joinSeconds", BenchRun.rounded(outcome.joinNanos() / 1e9))
              .put("seconds", BenchRun.rounded(outcome.nanos() / 1e9))
              .put("messagesPerSecond", Math.round(outcome.perSecond()))
              .put("mebibytesPerSecond", BenchRun.rounded(mebibytes));
      Table table =
          new Table("MESSAGES/S", "MIB/S", "RECEIVED", "SECONDS", "JOIN SECONDS")
              .row(
                  Math.round(outcome.perSecond()),
                  BenchRun.rounded(mebibytes),
                  outcome.received(),
                  BenchRun.rounded(outcome.nanos() / 1e9),
                  BenchRun.rounded(outcome.joinNanos() / 1e9));
      options.print(table.text(), json);
      return ExitStatus.DONE;
    }
  }
}
