package dev.evenkeel.bench;

import dev.evenkeel.cli.Table;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.demo.Zipf;
import dev.evenkeel.protocol.Outcome;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

/** {@code evenkeel bench dedup}. */
@Command(
    name = "dedup",
    description = {
      "Measures what deduplication costs for each message, and what it saves.",
      "It first fills two topics: one with different payloads, and one with few payloads that"
          + " repeat by Zipf's law. Groups of equal consumers read each, without dedup and with"
          + " --dedup payload. The ratio compares with dedup off on the same topic."
    },
    footer = {
      "  evenkeel bench dedup",
      "  evenkeel bench dedup --work 20ms --messages 50000 --payloads 500",
      "  evenkeel bench dedup --work 0ms --format json"
    })
final class DedupBench extends GroupBenchmark {
  private static final long SEED = 1;
  private static final double EXPONENT = 1.1;

  private final Supplier<Integer> payloads =
      options.flags.integer(
          "--payloads",
          "500",
          1,
          1_000_000,
          "How many different payloads the topic with repeats has");

  DedupBench() {
    super("2", "200000", "64", "5s");
  }

  @Override
  Table table(JsonArray runs) {
    JsonArray shown = runs.copy();
    for (int i = 0; i < shown.size(); i++) {
      JsonObject run = shown.getJsonObject(i);
      run.put("payloads", run.getString("payloads") == null ? "unique" : run.getString("payloads"));
    }
    return Table.of(
        "PAYLOADS, DEDUP, MESSAGES/S messagesPerSecond, OF OFF, DECLINED declinedShare", shown);
  }

  @Override
  JsonArray runs(EvenkeelTarget target) throws InterruptedException {
    JsonArray runs = new JsonArray();
    for (Integer different : new Integer[] {null, payloads.get()}) {
      Payloads sent = new RepeatedPayloads(options.sizeBytes(), different == null ? 0 : different);
      measure(fill(target, sent), different, runs);
    }
    return runs;
  }

  /**
   * @param different how many different payloads; null: all are different
   */
  private void measure(String topic, Integer different, JsonArray runs)
      throws InterruptedException {
    List<ConsumerOptions.Dedup> kinds =
        List.of(ConsumerOptions.Dedup.OFF, ConsumerOptions.Dedup.PAYLOAD);
    if (warmupMillis.get() > 0) {
      for (ConsumerOptions.Dedup kind : kinds) {
        run(topic, "warmup-" + kind, new ConsumerOptions().setDedup(kind), warmupMillis.get());
      }
    }
    double off = 0;
    for (ConsumerOptions.Dedup kind : kinds) {
      Outcome outcome =
          run(topic, kind.name(), new ConsumerOptions().setDedup(kind), durationMillis.get());
      off = kind == ConsumerOptions.Dedup.OFF ? outcome.perSecond() : off;
      runs.add(
          new JsonObject()
              .put("payloads", different)
              .put("dedup", kind.name().toLowerCase(Locale.ROOT))
              .mergeIn(outcome.json())
              .put("ofOff", Stats.rounded(outcome.perSecond() / off))
              .put(
                  "declinedShare",
                  Stats.rounded((double) outcome.declined() / Math.max(1, outcome.all()))));
    }
  }

  /** Payloads without keys that are all different, or repeat by Zipf's law. */
  private static final class RepeatedPayloads extends Payloads {
    private final AtomicLong next = new AtomicLong();
    private final Zipf zipf;

    /**
     * @param different how many different payloads; 0: all are different
     */
    RepeatedPayloads(int sizeBytes, int different) {
      super(Math.max(Long.BYTES, sizeBytes), 0, SEED);
      zipf = different == 0 ? null : new Zipf(different, EXPONENT);
    }

    @Override
    byte[] payload(long i) {
      byte[] payload = super.payload(0).clone();
      long number = next.getAndIncrement();
      ByteBuffer.wrap(payload)
          .putLong(zipf == null ? number : zipf.next(new SplittableRandom(SEED + number)));
      return payload;
    }
  }
}
