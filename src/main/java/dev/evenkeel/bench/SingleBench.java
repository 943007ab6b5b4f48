package dev.evenkeel.bench;

import dev.evenkeel.cli.ExitStatus;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

/** {@code evenkeel bench single}. */
@Command(
    name = "single",
    mixinStandardHelpOptions = true,
    description = {
      "Whether a lone message waits for a batch: a message now and then through a producer, and in"
          + " turn with it one as a bare request.",
      "The two should take the same time: a producer lingers only while a batch is on its way."
    },
    footer = {
      "",
      "Examples:",
      "  evenkeel bench single",
      "  evenkeel bench single --rate 1 --duration 2m --nodes 3 --format json"
    })
final class SingleBench extends Benchmark {
  private static final double WARMUP_FACTOR = 200;

  private final Supplier<Double> rate =
      options.flags.perSecond("--rate", "1", 1_000, "Messages a second of each of the two");

  private final Supplier<Long> durationMillis =
      options.flags.someTime("--duration", "60s", "Measure for so long");

  private final Supplier<Long> warmupMillis =
      options.flags.time(
          "--warmup", "5s", "Send 200 times as much for so long before anything is counted");

  @Override
  int measure(Target opened) throws InterruptedException {
    EvenkeelTarget target = evenkeel(opened);
    String topic = newTopic(target);
    List<Target.Sender> senders = List.of(target.sender(topic), target.bareSender(topic));
    if (warmupMillis.get() > 0) {
      List<Percentiles> unused = List.of(new Percentiles(), new Percentiles());
      new SingleLoad(payloads(), rate.get() * WARMUP_FACTOR)
          .run(senders, unused, warmupMillis.get());
    }
    Percentiles producer = new Percentiles();
    Percentiles bare = new Percentiles();
    new SingleLoad(payloads(), rate.get())
        .run(senders, List.of(producer, bare), durationMillis.get());
    senders.forEach(Target.Sender::close);
    options.print(
        Percentiles.table().row(producer.row("producer")).row(bare.row("bare request")).text(),
        result(target)
            .put("rate", rate.get())
            .put("producer", producer.json())
            .put("bare", bare.json())
            .put("p50Ratio", Stats.rounded(producer.millis(50) / bare.millis(50))));
    return ExitStatus.DONE;
  }
}
