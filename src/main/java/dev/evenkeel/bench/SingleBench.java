package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.Table;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

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
final class SingleBench implements Callable<Integer> {
  @ParentCommand private BenchCommand bench;

  @Mixin private BenchOptions options;

  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "1",
      description = "Messages a second of each of the two (default: ${DEFAULT-VALUE}).")
  private double rate;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      defaultValue = "60s",
      description = "Measure for so long (default: ${DEFAULT-VALUE}).")
  private String duration;

  @Option(
      names = "--warmup",
      paramLabel = "TIME",
      defaultValue = "5s",
      description =
          "Send 200 times as much for so long before anything is counted (default:"
              + " ${DEFAULT-VALUE}).")
  private String warmup;

  private static final double WARMUP_FACTOR = 200;

  @Override
  public Integer call() throws InterruptedException {
    options.check();
    if (!(rate > 0 && rate <= 1_000)) {
      throw CommandFailure.usage("--rate " + rate + ": it must be above 0, and at most 1000");
    }
    long millis = BenchRun.amount(null, duration).millis();
    long warmupMillis = BenchOptions.millis("--warmup", warmup);
    bench.logging();
    try (Target opened = bench.open(options)) {
      if (!(opened instanceof EvenkeelTarget target)) {
        throw CommandFailure.usage("single messages are measured of Evenkeel only");
      }
      String topic = BenchRun.newTopic(target, options);
      List<Target.Sender> senders = List.of(target.sender(topic), target.bareSender(topic));
      Payloads payloads = new Payloads(options.sizeBytes(), options.keys(), 1);
      if (warmupMillis > 0) {
        List<Percentiles> unused = List.of(new Percentiles(), new Percentiles());
        new SingleLoad(payloads, rate * WARMUP_FACTOR).run(senders, unused, warmupMillis);
      }
      Percentiles producer = new Percentiles();
      Percentiles bare = new Percentiles();
      new SingleLoad(payloads, rate).run(senders, List.of(producer, bare), millis);
      senders.forEach(Target.Sender::close);
      double ratio = BenchRun.rounded(producer.millis(50) / bare.millis(50));
      options.print(
          new Table("MILLISECONDS", "COUNT", "P50", "P90", "P99", "P99.9", "MAX")
              .row(producer.row("producer"))
              .row(bare.row("bare request"))
              .text(),
          BenchRun.result("single", target, options)
              .put("rate", rate)
              .put("producer", producer.json())
              .put("bare", bare.json())
              .put("p50Ratio", ratio));
      return ExitStatus.DONE;
    }
  }
}
