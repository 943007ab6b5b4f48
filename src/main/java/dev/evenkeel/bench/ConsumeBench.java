package dev.evenkeel.bench;

import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.OptionFormats;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

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
final class ConsumeBench extends Benchmark {
  @Mixin private BenchOptions.Producers producers;

  @Mixin private BenchOptions.Consumers consumers;

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
  void check() {
    producers.check();
    consumers.check();
    OptionFormats.range("--messages", messages, 1, 10_000_000_000L);
    OptionFormats.range("--warmup", warmup, 0, 100);
  }

  @Override
  int measure(Target target) throws InterruptedException {
    String topic = newTopic(target);
    send(senders(target, topic, producers.count), payloads(), Amount.messages(messages));
    ConsumeLoad load = new ConsumeLoad(target, topic, consumers.count, messages);
    for (int i = 0; i < warmup; i++) {
      load.run(topic + "-warmup-" + i);
    }
    ConsumeLoad.Outcome outcome = load.run(topic + "-measured");
    print(
        "MESSAGES/S messagesPerSecond, MIB/S mebibytesPerSecond, RECEIVED received,"
            + " SECONDS seconds, JOIN SECONDS joinSeconds",
        result(target)
            .put("consumers", consumers.count)
            .put("messages", messages)
            .put("received", outcome.received())
            .put("joinSeconds", Stats.seconds(outcome.joinNanos()))
            .put("seconds", Stats.seconds(outcome.nanos()))
            .put("messagesPerSecond", Math.round(outcome.perSecond()))
            .put("mebibytesPerSecond", options.mebibytes(outcome.perSecond())));
    return ExitStatus.DONE;
  }
}
