package dev.evenkeel.bench;

import dev.evenkeel.cli.OptionFormats;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

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
final class ProduceBench extends Benchmark {
  @Mixin private BenchOptions.Producers producers;

  @Option(
      names = "--messages",
      paramLabel = "N",
      description = "Send so many messages, instead of for a time.")
  private Long messages;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      converter = OptionFormats.SomeTime.class,
      defaultValue = "10s",
      description = "Send for so long (default: ${DEFAULT-VALUE}).")
  private long durationMillis;

  @Option(
      names = "--warmup",
      paramLabel = "TIME",
      converter = OptionFormats.Time.class,
      defaultValue = "5s",
      description = "Send for so long before anything is counted (default: ${DEFAULT-VALUE}).")
  private long warmupMillis;

  @Override
  void check() {
    producers.check();
    if (messages != null) {
      OptionFormats.range("--messages", messages, 1, 10_000_000_000L);
    }
  }

  @Override
  int measure(Target target) throws InterruptedException {
    String topic = newTopic(target);
    List<Target.Sender> senders = senders(target, topic, producers.count);
    ProduceLoad load = new ProduceLoad(senders, payloads(), options.inFlightMessages());
    ProduceLoad.Outcome warm = load.run(Amount.millis(warmupMillis));
    ProduceLoad.Outcome outcome =
        load.run(messages == null ? Amount.millis(durationMillis) : Amount.messages(messages));
    senders.forEach(Target.Sender::close);
    long stored = target.stored(topic);
    print(
        "MESSAGES/S messagesPerSecond, MIB/S mebibytesPerSecond, ACKED acked, SENT sent,"
            + " SECONDS seconds",
        result(target)
            .put("producers", producers.count)
            .put("warmupMessages", warm.sent())
            .put("sent", outcome.sent())
            .put("acked", outcome.acked())
            .put("failed", outcome.failed())
            .put("stored", stored < 0 ? null : stored - warm.acked())
            .put("seconds", Stats.seconds(outcome.nanos()))
            .put("messagesPerSecond", Math.round(outcome.perSecond()))
            .put("mebibytesPerSecond", options.mebibytes(outcome.perSecond())));
    return status(outcome.sent(), outcome.failed(), outcome.firstFailure());
  }
}
