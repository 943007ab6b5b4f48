package dev.evenkeel.bench;

import dev.evenkeel.cli.ByteSizes;
import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.Table;
import dev.evenkeel.protocol.Limits;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code evenkeel bench batching}. */
@Command(
    name = "batching",
    mixinStandardHelpOptions = true,
    description = {
      "What hand-tuned batches would gain: the throughput of a producer as it comes, and of"
          + " producers with every pair of a linger and a batch size.",
      "All settings are run in turn, --rounds times; the figure of each is the median of its"
          + " rounds."
    },
    footer = {
      "",
      "Examples:",
      "  evenkeel bench batching",
      "  evenkeel bench batching --size 1KiB --producers 4 --rounds 5",
      "  evenkeel bench batching --lingers 0ms,20ms --batches 16KiB,1MiB --format json"
    })
final class BatchingBench implements Callable<Integer> {
  @ParentCommand private BenchCommand bench;

  @Mixin private BenchOptions options;

  @Mixin private ProducersOption producersOption;

  @Option(
      names = "--lingers",
      paramLabel = "TIME",
      split = ",",
      defaultValue = "0ms,2ms,10ms,50ms",
      description = "Lingers that are tried (default: ${DEFAULT-VALUE}).")
  private List<String> lingers;

  @Option(
      names = "--batches",
      paramLabel = "SIZE",
      split = ",",
      defaultValue = "16KiB,64KiB,256KiB,1MiB",
      description = "Batch sizes that are tried (default: ${DEFAULT-VALUE}).")
  private List<String> batches;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "3",
      description = "Rounds (default: ${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      defaultValue = "3s",
      description = "Send for so long with each setting and round (default: ${DEFAULT-VALUE}).")
  private String duration;

  @Option(
      names = "--warmup",
      paramLabel = "TIME",
      defaultValue = "10s",
      description = "Send for so long before anything is counted (default: ${DEFAULT-VALUE}).")
  private String warmup;

  /**
   * A producer's setting; nulls: as it comes.
   *
   * @param perSecond of each round
   */
  private record Setting(Long lingerMillis, Integer batchBytes, List<Double> perSecond) {
    String name() {
      return lingerMillis == null
          ? "as it comes"
          : lingerMillis + "ms, " + ByteSizes.format(batchBytes);
    }
  }

  @Override
  public Integer call() throws InterruptedException {
    options.check();
    int producers = producersOption.checked();
    BenchOptions.range("--rounds", rounds, 1, 1_000);
    if (options.lingerMillis() != null || options.batchBytes() != null) {
      throw CommandFailure.usage("--linger, --batch: here they are --lingers and --batches");
    }
    List<Setting> settings = settings();
    Amount amount = BenchRun.amount(null, duration);
    Amount before = Amount.millis(BenchOptions.millis("--warmup", warmup));
    bench.logging();
    try (Target opened = bench.open(options)) {
      if (!(opened instanceof EvenkeelTarget target)) {
        throw CommandFailure.usage("batching is measured of Evenkeel only");
      }
      String topic = BenchRun.newTopic(target, options);
      run(target, topic, settings.get(0), producers, before);
      for (int round = 0; round < rounds; round++) {
        for (Setting setting : settings) {
          setting.perSecond().add(run(target, topic, setting, producers, amount));
        }
      }
      print(target, settings, producers);
      return ExitStatus.DONE;
    }
  }

  private List<Setting> settings() {
    List<Setting> settings = new ArrayList<>();
    settings.add(new Setting(null, null, new ArrayList<>()));
    for (String linger : lingers) {
      long lingerMillis = BenchOptions.millis("--lingers", linger);
      for (String batch : batches) {
        long bytes = BenchOptions.bytes("--batches", batch);
        BenchOptions.range("--batches", bytes, 1, Limits.BATCH_BYTES_MAX);
        settings.add(new Setting(lingerMillis, (int) bytes, new ArrayList<>()));
      }
    }
    return settings;
  }

  private double run(
      EvenkeelTarget target, String topic, Setting setting, int producers, Amount amount)
      throws InterruptedException {
    List<Target.Sender> senders = new ArrayList<>();
    for (int i = 0; i < producers; i++) {
      senders.add(target.sender(topic, null, setting.lingerMillis(), setting.batchBytes()));
    }
    ProduceLoad.Outcome outcome =
        new ProduceLoad(
                senders,
                new Payloads(options.sizeBytes(), options.keys(), 1),
                options.inFlightMessages())
            .run(amount);
    senders.forEach(Target.Sender::close);
    if (outcome.failed() > 0) {
      throw CommandFailure.failed(
          outcome.failed() + " messages failed, the first with: " + outcome.firstFailure());
    }
    return outcome.perSecond();
  }

  private void print(EvenkeelTarget target, List<Setting> settings, int producers) {
    double best =
        settings.stream()
            .skip(1)
            .mapToDouble(setting -> Stats.median(setting.perSecond()))
            .max()
            .orElseThrow();
    Table table = new Table("LINGER, BATCH", "MESSAGES/S", "OF THE BEST");
    JsonArray runs = new JsonArray();
    for (Setting setting : settings) {
      double median = Stats.median(setting.perSecond());
      table.row(setting.name(), Math.round(median), BenchRun.rounded(median / best));
      runs.add(
          new JsonObject()
              .put("lingerMillis", setting.lingerMillis())
              .put("batchBytes", setting.batchBytes())
              .put("messagesPerSecond", Math.round(median))
              .put("ofBestTuned", BenchRun.rounded(median / best)));
    }
    double adaptive = Stats.median(settings.get(0).perSecond());
    options.print(
        table.text(),
        BenchRun.result("batching", target, options)
            .put("producers", producers)
            .put("rounds", rounds)
            .put("settings", runs)
            .put("ofBestTuned", BenchRun.rounded(adaptive / best)));
  }
}
