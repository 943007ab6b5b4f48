package dev.evenkeel.bench;

import dev.evenkeel.cli.ByteSizes;
import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.OptionFormats;
import dev.evenkeel.cli.Table;
import dev.evenkeel.protocol.Limits;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

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
final class BatchingBench extends Benchmark {
  @Mixin private BenchOptions.Producers producers;

  @Option(
      names = "--lingers",
      paramLabel = "TIME",
      split = ",",
      converter = OptionFormats.Time.class,
      defaultValue = "0ms,2ms,10ms,50ms",
      description = "Lingers that are tried (default: ${DEFAULT-VALUE}).")
  private List<Long> lingersMillis;

  @Option(
      names = "--batches",
      paramLabel = "SIZE",
      split = ",",
      converter = OptionFormats.Size.class,
      defaultValue = "16KiB,64KiB,256KiB,1MiB",
      description = "Batch sizes that are tried (default: ${DEFAULT-VALUE}).")
  private List<Long> batchesBytes;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "3",
      description = "Rounds (default: ${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      converter = OptionFormats.SomeTime.class,
      defaultValue = "3s",
      description = "Send for so long with each setting and round (default: ${DEFAULT-VALUE}).")
  private long durationMillis;

  @Option(
      names = "--warmup",
      paramLabel = "TIME",
      converter = OptionFormats.Time.class,
      defaultValue = "10s",
      description = "Send for so long before anything is counted (default: ${DEFAULT-VALUE}).")
  private long warmupMillis;

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
  void check() {
    producers.check();
    OptionFormats.range("--rounds", rounds, 1, 1_000);
    batchesBytes.forEach(
        bytes -> OptionFormats.range("--batches", bytes, 1, Limits.BATCH_BYTES_MAX));
    if (options.lingerMillis() != null || options.batchBytes() != null) {
      throw CommandFailure.usage("--linger, --batch: here they are --lingers and --batches");
    }
  }

  @Override
  int measure(Target opened) throws InterruptedException {
    EvenkeelTarget target = evenkeel(opened);
    List<Setting> settings = new ArrayList<>();
    settings.add(new Setting(null, null, new ArrayList<>()));
    for (long linger : lingersMillis) {
      for (long bytes : batchesBytes) {
        settings.add(new Setting(linger, (int) bytes, new ArrayList<>()));
      }
    }
    String topic = newTopic(target);
    run(target, topic, settings.get(0), warmupMillis);
    for (int round = 0; round < rounds; round++) {
      for (Setting setting : settings) {
        setting.perSecond().add(run(target, topic, setting, durationMillis));
      }
    }
    print(target, settings);
    return ExitStatus.DONE;
  }

  private double run(EvenkeelTarget target, String topic, Setting setting, long millis)
      throws InterruptedException {
    List<Target.Sender> senders = new ArrayList<>();
    for (int i = 0; i < producers.count; i++) {
      senders.add(target.sender(topic, null, setting.lingerMillis(), setting.batchBytes()));
    }
    return send(senders, payloads(), Amount.millis(millis)).perSecond();
  }

  private void print(EvenkeelTarget target, List<Setting> settings) {
    double best =
        settings.stream()
            .skip(1)
            .mapToDouble(setting -> Stats.median(setting.perSecond()))
            .max()
            .orElseThrow();
    Table table = new Table("LINGER, BATCH", "MESSAGES/S", "OF THE BEST");
    JsonArray runs = new JsonArray();
    for (Setting setting : settings) {
      long median = Math.round(Stats.median(setting.perSecond()));
      double ofBest = Stats.rounded(Stats.median(setting.perSecond()) / best);
      table.row(setting.name(), median, ofBest);
      runs.add(
          new JsonObject()
              .put("lingerMillis", setting.lingerMillis())
              .put("batchBytes", setting.batchBytes())
              .put("messagesPerSecond", median)
              .put("ofBestTuned", ofBest));
    }
    options.print(
        table.text(),
        result(target)
            .put("producers", producers.count)
            .put("rounds", rounds)
            .put("settings", runs)
            .put("ofBestTuned", runs.getJsonObject(0).getDouble("ofBestTuned")));
  }
}
