package dev.evenkeel.bench;

import dev.evenkeel.cli.ExitStatus;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

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
  private final Supplier<Integer> producers = options.producers();
  private final Supplier<Integer> consumers = options.consumers();

  private final Supplier<Long> messages =
      options.flags.number("--messages", "1000000", 1, 10_000_000_000L, "Messages in the topic");

  private final Supplier<Integer> warmup =
      options.flags.integer(
          "--warmup", "1", 0, 100, "Groups that read the topic before anything is counted");

  @Override
  int measure(Target target) throws InterruptedException {
    String topic = newTopic(target);
    send(senders(target, topic, producers.get()), payloads(), Amount.messages(messages.get()));
    ConsumeLoad load = new ConsumeLoad(target, topic, consumers.get(), messages.get());
    for (int i = 0; i < warmup.get(); i++) {
      load.run(topic + "-warmup-" + i);
    }
    ConsumeLoad.Outcome outcome = load.run(topic + "-measured");
    print(
        "MESSAGES/S messagesPerSecond, MIB/S mebibytesPerSecond, RECEIVED received,"
            + " SECONDS seconds, JOIN SECONDS joinSeconds",
        result(target)
            .put("consumers", consumers.get())
            .put("messages", messages.get())
            .put("received", outcome.received())
            .put("joinSeconds", Stats.seconds(outcome.joinNanos()))
            .put("seconds", Stats.seconds(outcome.nanos()))
            .put("messagesPerSecond", Math.round(outcome.perSecond()))
            .put("mebibytesPerSecond", options.mebibytes(outcome.perSecond())));
    return ExitStatus.DONE;
  }
}
