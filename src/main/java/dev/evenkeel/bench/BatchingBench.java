package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.OptionFormats;
import dev.evenkeel.cli.Table;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.settings.ByteSizes;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

/** {@code evenkeel bench batching}. */
@Command(
    name = "batching",
    description = {
      "Measures what tuning would gain: compares the throughput of a default producer with every"
          + " combination of a linger and a batch size.",
      "It runs all settings in turn, --rounds times, and reports the median of each."
    },
    footer = {
      "  evenkeel bench batching",
      "  evenkeel bench batching --size 1KiB --producers 4 --rounds 5",
      "  evenkeel bench batching --lingers 0ms,20ms --batches 16KiB,1MiB --format json"
    })
final class BatchingBench extends Benchmark {
  private final Supplier<Integer> producers = options.producers();

  private final Supplier<List<Long>> lingersMillis =
      options.flags.times("--lingers", "0ms,2ms,10ms,50ms", "Lingers to try");

  private final Supplier<List<Long>> batchesBytes =
      options.flags.sizes("--batches", "16KiB,64KiB,256KiB,1MiB", "Batch sizes to try");

  private final Supplier<Integer> rounds =
      options.flags.integer("--rounds", "3", 1, 1_000, "Rounds");

  private final Supplier<Long> durationMillis =
      options.flags.someTime(
          "--duration", "3s", "How long to send with each setting in each round");

  private final Supplier<Long> warmupMillis = options.warmup("10s");

  /**
   * A linger and a batch size; null: the default.
   *
   * @param perSecond messages a second, one for each round
   */
  private record Setting(Long lingerMillis, Long batchBytes, List<Double> perSecond) {
    String name() {
      return lingerMillis == null
          ? "as it comes"
          : lingerMillis + "ms, " + ByteSizes.format(batchBytes);
    }
  }

  @Override
  void check() {
    batchesBytes
        .get()
        .forEach(bytes -> OptionFormats.range("--batches", bytes, 1, Limits.BATCH_BYTES_MAX));
    CommandFailure.refuseIf(
        options.lingerMillis.get() != null || options.batchBytes.get() != null,
        "--linger, --batch: here they are --lingers and --batches");
  }

  @Override
  int measure(Target opened) throws InterruptedException {
    EvenkeelTarget target = evenkeel(opened);
    List<Setting> settings = new ArrayList<>();
    settings.add(new Setting(null, null, new ArrayList<>()));
    for (long linger : lingersMillis.get()) {
      for (long bytes : batchesBytes.get()) {
        settings.add(new Setting(linger, bytes, new ArrayList<>()));
      }
    }
    String topic = newTopic(target);
    run(target, topic, settings.get(0), warmupMillis.get());
    for (int round = 0; round < rounds.get(); round++) {
      for (Setting setting : settings) {
        setting.perSecond().add(run(target, topic, setting, durationMillis.get()));
      }
    }
    print(target, settings);
    return ExitStatus.DONE;
  }

  private double run(EvenkeelTarget target, String topic, Setting setting, long millis)
      throws InterruptedException {
    List<Target.Sender> senders = new ArrayList<>();
    for (int i = 0; i < producers.get(); i++) {
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
            .put("producers", producers.get())
            .put("rounds", rounds.get())
            .put("settings", runs)
            .put("ofBestTuned", runs.getJsonObject(0).getDouble("ofBestTuned")));
  }
}
