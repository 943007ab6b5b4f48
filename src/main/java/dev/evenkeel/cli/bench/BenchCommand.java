package dev.evenkeel.cli.bench;

import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.Logging;
import dev.evenkeel.cli.Main;
import dev.evenkeel.cli.Table;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code evenkeel bench}. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    description = {
      "Measures what a cluster carries, and how long messages take.",
      "Without --cluster it starts nodes of its own, loads them from this program, and removes them"
          + " and their data. A message counts once it is acknowledged: fsynced by a majority."
    },
    footer = {
      "",
      "Examples:",
      "  evenkeel bench produce                            one node, messages of 100 bytes",
      "  evenkeel bench produce --size 1KiB --keys 1000 --nodes 3 --data /var/tmp",
      "  evenkeel bench consume --messages 2000000",
      "  evenkeel bench latency --rate 1000",
      "",
      "Figures of two systems or versions can be compared only if they come from one machine, one",
      "disk and one hour. Repeat a run, and take the median."
    })
public final class BenchCommand implements Runnable {
  private static final String TOPIC = "bench-";

  @Spec private CommandSpec spec;

  @ParentCommand private Main main;

  private final Target.Opener opener;

  public BenchCommand() {
    this(EvenkeelTarget::open);
  }

  /**
   * @param opener opens the system to be measured
   */
  BenchCommand(Target.Opener opener) {
    this.opener = opener;
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "a command is missing: produce, consume or latency");
  }

  @Command(
      name = "produce",
      mixinStandardHelpOptions = true,
      description = {
        "How many messages a second are taken and acknowledged.",
        "Each producer sends from a thread of its own until --in-flight is reached, and goes on"
            + " when answers come. The time is from the first message to the last answer."
      },
      footer = {
        "",
        "Examples:",
        "  evenkeel bench produce",
        "  evenkeel bench produce --size 1KiB --producers 4 --duration 30s",
        "  evenkeel bench produce --messages 5000000 --format json",
        "  evenkeel bench produce --cluster 10.0.0.1:5701,10.0.0.2:5701"
      })
  int produce(
      @Mixin BenchOptions options,
      @Option(
              names = "--producers",
              paramLabel = "N",
              defaultValue = "1",
              description = "Producers, each with a thread (default: ${DEFAULT-VALUE}).")
          int producers,
      @Option(
              names = "--messages",
              paramLabel = "N",
              description = "Send so many messages, instead of for a time.")
          Long messages,
      @Option(
              names = "--duration",
              paramLabel = "TIME",
              defaultValue = "10s",
              description = "Send for so long (default: ${DEFAULT-VALUE}).")
          String duration,
      @Option(
              names = "--warmup",
              paramLabel = "TIME",
              defaultValue = "5s",
              description =
                  "Send for so long before anything is counted (default: ${DEFAULT-VALUE}).")
          String warmup)
      throws InterruptedException {
    options.check();
    BenchOptions.range("--producers", producers, 1, 1_000);
    Amount amount = amount(messages, duration);
    Amount before = Amount.millis(BenchOptions.millis("--warmup", warmup));
    Logging.client(main != null && main.verbose());
    try (Target target = opener.open(options)) {
      String topic = newTopic(target, options);
      List<Target.Sender> senders = senders(target, topic, producers);
      ProduceLoad load =
          new ProduceLoad(
              senders,
              new Payloads(options.sizeBytes(), options.keys(), 1),
              options.inFlightMessages());
      ProduceLoad.Outcome warm = load.run(before);
      ProduceLoad.Outcome outcome = load.run(amount);
      senders.forEach(Target.Sender::close);
      long stored = target.stored(topic);
      double mebibytes = outcome.perSecond() * options.sizeBytes() / (1 << 20);
      JsonObject json =
          result("produce", target, options)
              .put("producers", producers)
              .put("warmupMessages", warm.sent())
              .put("sent", outcome.sent())
              .put("acked", outcome.acked())
              .put("failed", outcome.failed())
              .put("stored", stored < 0 ? null : stored - warm.acked())
              .put("seconds", rounded(outcome.nanos() / 1e9))
              .put("messagesPerSecond", Math.round(outcome.perSecond()))
              .put("mebibytesPerSecond", rounded(mebibytes));
      Table table =
          new Table("MESSAGES/S", "MIB/S", "ACKED", "SENT", "SECONDS")
              .row(
                  Math.round(outcome.perSecond()),
                  rounded(mebibytes),
                  outcome.acked(),
                  outcome.sent(),
                  rounded(outcome.nanos() / 1e9));
      options.print(table.text(), json);
      return status(outcome);
    }
  }

  @Command(
      name = "consume",
      mixinStandardHelpOptions = true,
      description = {
        "How many messages a second a group reads.",
        "A topic is filled first. Then one group reads it to warm up, and another is measured, from"
            + " its first message to its last."
      },
      footer = {
        "",
        "Examples:",
        "  evenkeel bench consume",
        "  evenkeel bench consume --messages 5000000 --consumers 3",
        "  evenkeel bench consume --size 1KiB --messages 500000 --format json"
      })
  int consume(
      @Mixin BenchOptions options,
      @Option(
              names = "--producers",
              paramLabel = "N",
              defaultValue = "1",
              description = "Producers that fill the topic (default: ${DEFAULT-VALUE}).")
          int producers,
      @Option(
              names = "--consumers",
              paramLabel = "N",
              defaultValue = "1",
              description = "Members of the group (default: ${DEFAULT-VALUE}).")
          int consumers,
      @Option(
              names = "--messages",
              paramLabel = "N",
              defaultValue = "1000000",
              description = "Messages in the topic (default: ${DEFAULT-VALUE}).")
          long messages,
      @Option(
              names = "--warmup",
              paramLabel = "N",
              defaultValue = "1",
              description =
                  "Groups that read the topic before anything is counted"
                      + " (default: ${DEFAULT-VALUE}).")
          int warmup)
      throws InterruptedException {
    options.check();
    BenchOptions.range("--producers", producers, 1, 1_000);
    BenchOptions.range("--consumers", consumers, 1, 1_000);
    BenchOptions.range("--messages", messages, 1, 10_000_000_000L);
    BenchOptions.range("--warmup", warmup, 0, 100);
    Logging.client(main != null && main.verbose());
    try (Target target = opener.open(options)) {
      String topic = newTopic(target, options);
      List<Target.Sender> senders = senders(target, topic, producers);
      ProduceLoad.Outcome filled =
          new ProduceLoad(
                  senders,
                  new Payloads(options.sizeBytes(), options.keys(), 1),
                  options.inFlightMessages())
              .run(Amount.messages(messages));
      senders.forEach(Target.Sender::close);
      if (filled.failed() > 0) {
        return status(filled);
      }
      ConsumeLoad load = new ConsumeLoad(target, topic, consumers, messages);
      for (int i = 0; i < warmup; i++) {
        load.run(topic + "-warmup-" + i);
      }
      ConsumeLoad.Outcome outcome = load.run(topic + "-measured");
      double mebibytes = outcome.perSecond() * options.sizeBytes() / (1 << 20);
      JsonObject json =
          result("consume", target, options)
              .put("consumers", consumers)
              .put("messages", messages)
              .put("received", outcome.received())
              .put("joinSeconds", rounded(outcome.joinNanos() / 1e9))
              .put("seconds", rounded(outcome.nanos() / 1e9))
              .put("messagesPerSecond", Math.round(outcome.perSecond()))
              .put("mebibytesPerSecond", rounded(mebibytes));
      Table table =
          new Table("MESSAGES/S", "MIB/S", "RECEIVED", "SECONDS", "JOIN SECONDS")
              .row(
                  Math.round(outcome.perSecond()),
                  rounded(mebibytes),
                  outcome.received(),
                  rounded(outcome.nanos() / 1e9),
                  rounded(outcome.joinNanos() / 1e9));
      options.print(table.text(), json);
      return ExitStatus.DONE;
    }
  }

  @Command(
      name = "latency",
      mixinStandardHelpOptions = true,
      description = {
        "How long messages take at a fixed rate: to their acknowledgement, and to a consumer.",
        "The load is open: each message has its time, and latency counts from that time even if"
            + " the message before it holds it up (no coordinated omission)."
      },
      footer = {
        "",
        "Examples:",
        "  evenkeel bench latency",
        "  evenkeel bench latency --rate 20000 --size 1KiB --duration 60s",
        "  evenkeel bench latency --rate 500 --nodes 3 --format json",
        "",
        "Where the load itself was late by much ('late'), the machine was busy, and not the queue."
      })
  int latency(
      @Mixin BenchOptions options,
      @Option(
              names = "--rate",
              paramLabel = "N",
              defaultValue = "1000",
              description = "Messages a second (default: ${DEFAULT-VALUE}).")
          double rate,
      @Option(
              names = "--producers",
              paramLabel = "N",
              defaultValue = "1",
              description = "Producers that take turns (default: ${DEFAULT-VALUE}).")
          int producers,
      @Option(
              names = "--consumers",
              paramLabel = "N",
              defaultValue = "1",
              description = "Members of the group (default: ${DEFAULT-VALUE}).")
          int consumers,
      @Option(
              names = "--duration",
              paramLabel = "TIME",
              defaultValue = "20s",
              description = "Measure for so long (default: ${DEFAULT-VALUE}).")
          String duration,
      @Option(
              names = "--warmup",
              paramLabel = "TIME",
              defaultValue = "10s",
              description =
                  "Send for so long before anything is counted (default: ${DEFAULT-VALUE}).")
          String warmup)
      throws InterruptedException {
    options.check();
    BenchOptions.range("--producers", producers, 1, 1_000);
    BenchOptions.range("--consumers", consumers, 1, 1_000);
    if (!(rate > 0 && rate <= 1e7)) {
      throw CommandFailure.usage("--rate " + rate + ": it must be above 0, and at most 10000000");
    }
    if (options.sizeBytes() < LatencyLoad.STAMP_BYTES) {
      throw CommandFailure.usage(
          "--size: a message carries its time, so it needs "
              + LatencyLoad.STAMP_BYTES
              + " bytes or more");
    }
    long millis = amount(null, duration).millis();
    long warmupMillis = BenchOptions.millis("--warmup", warmup);
    Logging.client(main != null && main.verbose());
    try (Target target = opener.open(options)) {
      String topic = newTopic(target, options);
      LatencyLoad load =
          new LatencyLoad(new Payloads(options.sizeBytes(), options.keys(), 1), rate);
      List<Target.Receiver> receivers = new ArrayList<>();
      for (int i = 0; i < consumers; i++) {
        receivers.add(target.receiver(topic, topic + "-group", load.arrival()));
      }
      List<Target.Sender> senders = senders(target, topic, producers);
      LatencyLoad.Outcome outcome = load.run(senders, warmupMillis, millis);
      senders.forEach(Target.Sender::close);
      receivers.forEach(Target.Receiver::close);
      JsonObject json =
          result("latency", target, options)
              .put("rate", rate)
              .put("producers", producers)
              .put("consumers", consumers)
              .put("sent", outcome.sent())
              .put("acked", outcome.sent() - outcome.failed())
              .put("failed", outcome.failed())
              .put("received", outcome.received())
              .put("acknowledged", outcome.acknowledged().json())
              .put("endToEnd", outcome.endToEnd().json())
              .put("late", outcome.late().json());
      Table table =
          new Table("MILLISECONDS", "COUNT", "P50", "P90", "P99", "P99.9", "MAX")
              .row(outcome.acknowledged().row("acknowledged"))
              .row(outcome.endToEnd().row("end to end"))
              .row(outcome.late().row("late"));
      options.print(table.text(), json);
      return status(outcome.sent(), outcome.failed(), outcome.firstFailure());
    }
  }

  private static Amount amount(Long messages, String duration) {
    if (messages != null) {
      BenchOptions.range("--messages", messages, 1, 10_000_000_000L);
      return Amount.messages(messages);
    }
    long millis = BenchOptions.millis("--duration", duration);
    if (millis == 0) {
      throw CommandFailure.usage("--duration '" + duration + "': it must be above 0");
    }
    return Amount.millis(millis);
  }

  /** A name that no former run has used, for a running cluster keeps its topics. */
  private static String newTopic(Target target, BenchOptions options) {
    String topic = TOPIC + Long.toString(System.currentTimeMillis(), Character.MAX_RADIX);
    target.createTopic(topic, options.shards());
    return topic;
  }

  private static List<Target.Sender> senders(Target target, String topic, int count) {
    List<Target.Sender> senders = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      senders.add(target.sender(topic));
    }
    return senders;
  }

  private static JsonObject result(String bench, Target target, BenchOptions options) {
    return new JsonObject()
        .put("bench", bench)
        .mergeIn(target.describe())
        .mergeIn(options.describe());
  }

  private static int status(ProduceLoad.Outcome outcome) {
    return status(outcome.sent(), outcome.failed(), outcome.firstFailure());
  }

  private static int status(long sent, long failed, Throwable first) {
    if (failed == 0) {
      return ExitStatus.DONE;
    }
    System.err.println(
        String.format(
            Locale.ROOT,
            "evenkeel bench: %d of %d messages failed, the first with: %s",
            failed,
            sent,
            first == null ? "no answer" : first));
    return ExitStatus.FAILED;
  }

  private static double rounded(double value) {
    return Math.round(value * 1_000) / 1_000.0;
  }
}
