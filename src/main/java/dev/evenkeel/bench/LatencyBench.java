package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.Table;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

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
final class LatencyBench implements Callable<Integer> {
  @ParentCommand private BenchCommand bench;

  @Mixin private BenchOptions options;

  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "1000",
      description = "Messages a second (default: ${DEFAULT-VALUE}).")
  private double rate;

  @Mixin private ProducersOption producersOption;

  @Mixin private ConsumersOption consumersOption;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      defaultValue = "20s",
      description = "Measure for so long (default: ${DEFAULT-VALUE}).")
  private String duration;

  @Option(
      names = "--warmup",
      paramLabel = "TIME",
      defaultValue = "10s",
      description = "Send for so long before anything is counted (default: ${DEFAULT-VALUE}).")
  private String warmup;

  @Override
  public Integer call() throws InterruptedException {
    options.check();
    int producers = producersOption.checked();
    int consumers = consumersOption.checked();
    if (!(rate > 0 && rate <= 1e7)) {
      throw CommandFailure.usage("--rate " + rate + ": it must be above 0, and at most 10000000");
    }
    if (options.sizeBytes() < LatencyLoad.STAMP_BYTES) {
      throw CommandFailure.usage(
          "--size: a message carries its time, so it needs "
              + LatencyLoad.STAMP_BYTES
              + " bytes or more");
    }
    long millis = BenchRun.amount(null, duration).millis();
    long warmupMillis = BenchOptions.millis("--warmup", warmup);
    bench.logging();
    try (Target target = bench.open(options)) {
      String topic = BenchRun.newTopic(target, options);
      LatencyLoad load =
          new LatencyLoad(new Payloads(options.sizeBytes(), options.keys(), 1), rate);
      List<Target.Receiver> receivers = new ArrayList<>();
      for (int i = 0; i < consumers; i++) {
        receivers.add(target.receiver(topic, topic + "-group", load.arrival()));
      }
      List<Target.Sender> senders = BenchRun.senders(target, topic, producers);
      LatencyLoad.Outcome outcome = load.run(senders, warmupMillis, millis);
      senders.forEach(Target.Sender::close);
      receivers.forEach(Target.Receiver::close);
      JsonObject json =
          BenchRun.result("latency", target, options)
              .put("rate", rate)
              .put("producers", producers)
              .put("consumers", consumers)
              .put("sent", outcome.sent())
              .put("acked", outcome.sent() - outcome.failed())
              .put("failed", outcome.failed())
              .put("received", outcome.received())
              .put("acknowledged", outcome.acknowledged().json())
              .put("endToEnd", outcome.endToEnd().json())
              .put("late", outcome.late().json());
      Table table =
          new Table("MILLISECONDS", "COUNT", "P50", "P90", "P99", "P99.9", "MAX")
              .row(outcome.acknowledged().row("acknowledged"))
              .row(outcome.endToEnd().row("end to end"))
              .row(outcome.late().row("late"));
      options.print(table.text(), json);
      return BenchRun.status(outcome.sent(), outcome.failed(), outcome.firstFailure());
    }
  }
}
