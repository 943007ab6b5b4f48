package dev.evenkeel.bench;

import dev.evenkeel.cli.OptionFormats;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code evenkeel bench latency}. */
@Command(
    name = "latency",
    mixinStandardHelpOptions = true,
    description = {
      "How long messages take at a fixed rate: to their acknowledgement, and to a consumer.",
      "The load is open: each message has its time, and latency counts from that time even if"
          + " the message before it holds it up (no coordinated omission)."
    },
    footer = {
      "",
      "Examples:",
      "  evenkeel bench latency",
      "  evenkeel bench latency --rate 20000 --size 1KiB --duration 60s",
      "  evenkeel bench latency --rate 500 --nodes 3 --format json",
      "",
      "Where the load itself was late by much ('late'), the machine was busy, and not the queue."
    })
final class LatencyBench extends Benchmark {
  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "1000",
      description = "Messages a second (default: ${DEFAULT-VALUE}).")
  private double rate;

  @Mixin private BenchOptions.Producers producers;

  @Mixin private BenchOptions.Consumers consumers;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      converter = OptionFormats.SomeTime.class,
      defaultValue = "20s",
      description = "Measure for so long (default: ${DEFAULT-VALUE}).")
  private long durationMillis;

  @Option(
      names = "--warmup",
      paramLabel = "TIME",
      converter = OptionFormats.Time.class,
      defaultValue = "10s",
      description = "Send for so long before anything is counted (default: ${DEFAULT-VALUE}).")
  private long warmupMillis;

  @Override
  void check() {
    producers.check();
    consumers.check();
    OptionFormats.rate("--rate", rate, 10_000_000);
    options.needBytes(LatencyLoad.STAMP_BYTES, "a message carries its time");
  }

  @Override
  int measure(Target target) throws InterruptedException {
    String topic = newTopic(target);
    LatencyLoad load = new LatencyLoad(payloads(), rate);
    List<Target.Receiver> receivers =
        receivers(target, topic, topic + "-group", consumers.count, load.arrival());
    List<Target.Sender> senders = senders(target, topic, producers.count);
    LatencyLoad.Outcome outcome = load.run(senders, warmupMillis, durationMillis);
    senders.forEach(Target.Sender::close);
    receivers.forEach(Target.Receiver::close);
    options.print(
        Percentiles.table()
            .row(outcome.acknowledged().row("acknowledged"))
            .row(outcome.endToEnd().row("end to end"))
            .row(outcome.late().row("late"))
            .text(),
        result(target)
            .put("rate", rate)
            .put("producers", producers.count)
            .put("consumers", consumers.count)
            .put("sent", outcome.sent())
            .put("acked", outcome.sent() - outcome.failed())
            .put("failed", outcome.failed())
            .put("received", outcome.received())
            .put("acknowledged", outcome.acknowledged().json())
            .put("endToEnd", outcome.endToEnd().json())
            .put("late", outcome.late().json()));
    return status(outcome.sent(), outcome.failed(), outcome.firstFailure());
  }
}
