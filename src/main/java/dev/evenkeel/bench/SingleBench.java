package dev.evenkeel.bench;

import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.OptionFormats;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

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

  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "1",
      description = "Messages a second of each of the two (default: ${DEFAULT-VALUE}).")
  private double rate;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      converter = OptionFormats.SomeTime.class,
      defaultValue = "60s",
      description = "Measure for so long (default: ${DEFAULT-VALUE}).")
  private long durationMillis;

  @Option(
      names = "--warmup",
      paramLabel = "TIME",
      converter = OptionFormats.Time.class,
      defaultValue = "5s",
      description =
          "Send 200 times as much for so long before anything is counted (default:"
              + " ${DEFAULT-VALUE}).")
  private long warmupMillis;

  @Override
  void check() {
    OptionFormats.rate("--rate", rate, 1_000);
  }

  @Override
  int measure(Target opened) throws InterruptedException {
    EvenkeelTarget target = evenkeel(opened);
    String topic = newTopic(target);
    List<Target.Sender> senders = List.of(target.sender(topic), target.bareSender(topic));
    if (warmupMillis > 0) {
      List<Percentiles> unused = List.of(new Percentiles(), new Percentiles());
      new SingleLoad(payloads(), rate * WARMUP_FACTOR).run(senders, unused, warmupMillis);
    }
    Percentiles producer = new Percentiles();
    Percentiles bare = new Percentiles();
    new SingleLoad(payloads(), rate).run(senders, List.of(producer, bare), durationMillis);
    senders.forEach(Target.Sender::close);
    options.print(
        Percentiles.table().row(producer.row("producer")).row(bare.row("bare request")).text(),
        result(target)
            .put("rate", rate)
            .put("producer", producer.json())
            .put("bare", bare.json())
            .put("p50Ratio", Stats.rounded(producer.millis(50) / bare.millis(50))));
    return ExitStatus.DONE;
  }
}
