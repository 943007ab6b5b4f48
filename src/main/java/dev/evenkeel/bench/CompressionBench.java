package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.Table;
import dev.evenkeel.protocol.Compression;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

/** {@code evenkeel bench compression}. */
@Command(
    name = "compression",
    description = {
      "Measures what compression saves and costs: sends the same lines of a JSON log without"
          + " compression, with lz4 and with zstd.",
      "It runs the three in turn, --rounds times, each with a new topic, and reports medians."
    },
    footer = {
      "  evenkeel bench compression --size 500B",
      "  evenkeel bench compression --size 500B --rounds 5 --duration 10s --data /var/tmp",
      "",
      "'WRITTEN' is what a node writes to disk for a message, 'FEWER' how many times less that is",
      "than without compression, and 'RATE' the throughput, divided by that without compression."
    })
final class CompressionBench extends Benchmark {
  private final Supplier<Integer> producers = options.producers();

  private final Supplier<Integer> rounds =
      options.flags.integer("--rounds", "3", 1, 1_000, "Rounds");

  private final Supplier<Long> durationMillis =
      options.flags.someTime("--duration", "8s", "How long to send with each in each round");

  private final Supplier<Long> warmupMillis = options.warmup("5s");

  /** The figures of one compression, one for each round. */
  private record Figures(
      Compression compression, List<Double> perSecond, List<Double> stored, List<Double> written) {
    static Double median(List<Double> values) {
      return values.isEmpty() ? null : Stats.rounded(Stats.median(values));
    }

    static Double ratio(List<Double> over, List<Double> under) {
      return over.isEmpty() || under.isEmpty()
          ? null
          : Stats.rounded(Stats.median(over) / Stats.median(under));
    }

    JsonObject json(Figures none) {
      return new JsonObject()
          .put("compression", compression.name().toLowerCase(Locale.ROOT))
          .put(RATE, Math.round(Stats.median(perSecond)))
          .put("ofNone", ratio(perSecond, none.perSecond))
          .put("storedBytesPerMessage", median(stored))
          .put("writtenBytesPerMessage", median(written))
          .put("timesFewerWritten", ratio(none.written, written));
    }
  }

  @Override
  void check() {
    CommandFailure.refuseIf(
        options.compression.get() != Compression.NONE, "--compression: this measures all of them");
  }

  @Override
  int measure(Target opened) throws InterruptedException {
    EvenkeelTarget target = evenkeel(opened);
    Payloads lines = new Payloads(options.sizeBytes(), options.keys.get(), 1, true);
    List<Figures> all = new ArrayList<>();
    for (Compression each : Compression.values()) {
      all.add(new Figures(each, new ArrayList<>(), new ArrayList<>(), new ArrayList<>()));
    }
    for (int round = 0; round < rounds.get(); round++) {
      for (Figures figures : all) {
        run(target, lines, figures);
      }
    }
    JsonArray rows = new JsonArray();
    all.forEach(figures -> rows.add(figures.json(all.get(0))));
    JsonObject result = result(target);
    result.remove("compression");
    options.print(
        Table.of(
                "COMPRESSION compression, MESSAGES/S messagesPerSecond, RATE ofNone,"
                    + " STORED storedBytesPerMessage, WRITTEN writtenBytesPerMessage,"
                    + " FEWER timesFewerWritten",
                rows)
            .text(),
        result.put("producers", producers.get()).put("rounds", rounds.get()).put("settings", rows));
    return ExitStatus.DONE;
  }

  private void run(EvenkeelTarget target, Payloads lines, Figures figures)
      throws InterruptedException {
    String topic = newTopic(target);
    List<Target.Sender> senders = new ArrayList<>();
    for (int i = 0; i < producers.get(); i++) {
      senders.add(target.compressingSender(topic, figures.compression()));
    }
    ProduceLoad load = new ProduceLoad(senders, lines, options.inFlightMessages());
    answered(load.run(Amount.millis(warmupMillis.get())));
    DiskWrites before = target.diskWrites(topic, null);
    ProduceLoad.Outcome outcome = answered(load.run(Amount.millis(durationMillis.get())));
    senders.forEach(Target.Sender::close);
    DiskWrites writes = target.diskWrites(topic, null).since(before);
    figures.perSecond().add(outcome.perSecond());
    if (writes.batchBytes() != null) {
      figures.stored().add((double) writes.batchBytes() / outcome.acked());
    }
    if (writes.worstRatio() != null) {
      figures.written().add(writes.worstRatio() * writes.batchBytes() / outcome.acked());
    }
  }
}
