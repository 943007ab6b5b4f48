package dev.evenkeel.bench;

import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

/** {@code evenkeel bench latency}. */
@Command(
    name = "latency",
    description = {
      "Measures, at a fixed rate, the latency of messages to their acknowledgement and to a"
          + " consumer.",
      "The load is open: each message is due at a fixed time, and its latency counts from that time"
          + " even if the message before delays it (no coordinated omission)."
    },
    footer = {
      "  evenkeel bench latency",
      "  evenkeel bench latency --rate 20000 --size 1KiB --duration 60s",
      "  evenkeel bench latency --rate 500 --nodes 3 --format json",
      "",
      "If the load itself was late ('late'), the machine was busy, not the queue."
    })
final class LatencyBench extends Benchmark {
  private final Supplier<Double> rate =
      options.flags.perSecond("--rate", "1000", 10_000_000, "Messages a second");

  private final Supplier<Integer> producers = options.producers();
  private final Supplier<Integer> consumers = options.consumers();

  private final Supplier<Long> durationMillis =
      options.flags.someTime("--duration", "20s", "How long to measure");

  private final Supplier<Long> warmupMillis = options.warmup("10s");

  @Override
  void check() {
    options.needBytes(LatencyLoad.STAMP_BYTES, "a message carries its time");
  }

  @Override
  int measure(Target target) throws InterruptedException {
    String topic = newTopic(target);
    LatencyLoad load = new LatencyLoad(payloads(), rate.get());
    List<Target.Receiver> receivers =
        receivers(target, topic, topic + "-group", consumers.get(), load.arrival());
    List<Target.Sender> senders = senders(target, topic, producers.get());
    LatencyLoad.Outcome outcome = load.run(senders, warmupMillis.get(), durationMillis.get());
    senders.forEach(Target.Sender::close);
    receivers.forEach(Target.Receiver::close);
    options.print(
        Percentiles.table()
            .row(outcome.acknowledged().row("acknowledged"))
            .row(outcome.endToEnd().row("end to end"))
            .row(outcome.late().row("late"))
            .text(),
        result(target)
            .put("rate", rate.get())
            .put("producers", producers.get())
            .put("consumers", consumers.get())
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
