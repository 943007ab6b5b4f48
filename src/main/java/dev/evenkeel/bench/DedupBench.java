package dev.evenkeel.bench;

import dev.evenkeel.cli.ClientConnection;
import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.Table;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.EvenkeelClient;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code evenkeel bench dedup}. */
@Command(
    name = "dedup",
    mixinStandardHelpOptions = true,
    description = {
      "What deduplication costs a message, and what it saves.",
      "Two topics are filled first: one whose payloads are all different, and one with a few that"
          + " come again and again by Zipf's law. Groups of equal consumers read each, without"
          + " dedup and with --dedup payload. The ratio is to off, of the same topic."
    },
    footer = {
      "",
      "Examples:",
      "  evenkeel bench dedup",
      "  evenkeel bench dedup --work 20ms --messages 50000 --payloads 500",
      "  evenkeel bench dedup --work 0ms --format json"
    })
final class DedupBench implements Callable<Integer> {
  private static final double EXPONENT = 1.1;

  @ParentCommand private BenchCommand bench;

  @Mixin private BenchOptions options;

  @Mixin private ProducersOption producersOption;

  @Option(
      names = "--consumers",
      paramLabel = "N",
      defaultValue = "2",
      description =
          "Members of each group, in this program, each with its own connection (default:"
              + " ${DEFAULT-VALUE}).")
  private int consumers;

  @Option(
      names = "--messages",
      paramLabel = "N",
      defaultValue = "200000",
      description = "Messages in each topic (default: ${DEFAULT-VALUE}).")
  private long messages;

  @Option(
      names = "--payloads",
      paramLabel = "N",
      defaultValue = "500",
      description =
          "Different payloads of the topic that repeats them (default: ${DEFAULT-VALUE}).")
  private int payloads;

  @Option(
      names = "--work",
      paramLabel = "TIME",
      defaultValue = "1ms",
      description =
          "How long a handler takes, without blocking; 0ms: it does nothing (default:"
              + " ${DEFAULT-VALUE}).")
  private String work;

  @Option(
      names = "--parallel",
      paramLabel = "N",
      defaultValue = "64",
      description = "Handlers of a consumer that run at once, at most (default: ${DEFAULT-VALUE}).")
  private int parallel;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      defaultValue = "15s",
      description =
          "How long each group is measured at most; it may end before the last message (default:"
              + " ${DEFAULT-VALUE}).")
  private String duration;

  @Option(
      names = "--warmup",
      paramLabel = "TIME",
      defaultValue = "5s",
      description = "For how long a group of each kind reads first (default: ${DEFAULT-VALUE}).")
  private String warmup;

  @Override
  public Integer call() throws InterruptedException {
    options.check();
    int producers = producersOption.checked();
    BenchOptions.range("--consumers", consumers, 1, 100);
    BenchOptions.range("--messages", messages, 1, 1_000_000_000L);
    BenchOptions.range("--payloads", payloads, 1, 1_000_000);
    BenchOptions.range("--parallel", parallel, 1, 10_000);
    long workMillis = BenchOptions.millis("--work", work);
    long millisMax = BenchOptions.millis("--duration", duration);
    if (millisMax == 0) {
      throw CommandFailure.usage("--duration '" + duration + "': it must be above 0");
    }
    long warmupMillis = BenchOptions.millis("--warmup", warmup);
    bench.logging();
    try (Target opened = bench.open(options)) {
      if (!(opened instanceof EvenkeelTarget target)) {
        throw CommandFailure.usage("dedup is measured of Evenkeel only");
      }
      Table table = new Table("PAYLOADS", "DEDUP", "MESSAGES/S", "OF OFF", "DECLINED");
      JsonArray runs = new JsonArray();
      List<EvenkeelClient> clients = LevelLoad.connect(target.seeds(), consumers);
      try {
        for (int different : new int[] {0, payloads}) {
          String topic = fill(target, producers, different);
          LevelLoad load = new LevelLoad(clients, topic, messages, workMillis, parallel);
          measure(load, topic, different, warmupMillis, millisMax, table, runs);
        }
      } finally {
        clients.forEach(ClientConnection::close);
      }
      options.print(
          table.text(),
          BenchRun.result("dedup", target, options)
              .put("consumers", consumers)
              .put("messages", messages)
              .put("workMillis", workMillis)
              .put("parallel", parallel)
              .put("runs", runs));
      return ExitStatus.DONE;
    }
  }

  private String fill(EvenkeelTarget target, int producers, int different)
      throws InterruptedException {
    String topic = BenchRun.newTopic(target, options);
    List<Target.Sender> senders = BenchRun.senders(target, topic, producers);
    ProduceLoad.Outcome filled =
        new ProduceLoad(
                senders,
                new RepeatedPayloads(options.sizeBytes(), different, EXPONENT, 1),
                options.inFlightMessages())
            .run(Amount.messages(messages));
    senders.forEach(Target.Sender::close);
    if (filled.failed() > 0) {
      throw CommandFailure.failed(
          "the topic could not be filled: " + filled.firstFailure(), filled.firstFailure());
    }
    return topic;
  }

  private static void measure(
      LevelLoad load,
      String topic,
      int different,
      long warmupMillis,
      long millisMax,
      Table table,
      JsonArray runs)
      throws InterruptedException {
    List<ConsumerOptions.Dedup> kinds =
        List.of(ConsumerOptions.Dedup.OFF, ConsumerOptions.Dedup.PAYLOAD);
    if (warmupMillis > 0) {
      for (ConsumerOptions.Dedup kind : kinds) {
        load.run(topic + "-warmup-" + kind, options(kind), warmupMillis);
      }
    }
    double off = 0;
    for (ConsumerOptions.Dedup kind : kinds) {
      boolean on = kind != ConsumerOptions.Dedup.OFF;
      LevelLoad.Outcome outcome = load.run(topic + "-" + kind, options(kind), millisMax);
      off = on ? off : outcome.perSecond();
      double ratio = BenchRun.rounded(outcome.perSecond() / off);
      double declined = BenchRun.rounded((double) outcome.declined() / Math.max(1, outcome.all()));
      String repeated = different == 0 ? "unique" : String.valueOf(different);
      table.row(repeated, on ? "payload" : "off", Math.round(outcome.perSecond()), ratio, declined);
      runs.add(
          new JsonObject()
              .put("payloads", different == 0 ? null : (Integer) different)
              .put("dedup", on ? "payload" : "off")
              .put("finished", outcome.finished())
              .put("seconds", BenchRun.rounded(outcome.nanos() / 1e9))
              .put("messagesPerSecond", Math.round(outcome.perSecond()))
              .put("ofOff", ratio)
              .put("declinedShare", declined));
    }
  }

  private static ConsumerOptions options(ConsumerOptions.Dedup dedup) {
    return new ConsumerOptions().setDedup(dedup);
  }
}
