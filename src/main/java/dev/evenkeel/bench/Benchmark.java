package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.Logging;
import dev.evenkeel.cli.Table;
import dev.evenkeel.protocol.Compression;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParentCommand;

/**
 * A benchmark: it checks its options, connects to the target, runs the load, and prints the
 * figures.
 */
abstract class Benchmark implements Callable<Integer> {
  /** The field of a result with its throughput. */
  static final String RATE = "messagesPerSecond";

  private static final String TOPIC = "bench-";

  @ParentCommand private Target.Opener opener;

  @Mixin final BenchOptions options;

  Benchmark() {
    this(false);
  }

  /**
   * @param threeOwnNodes whether it kills nodes and so needs three of its own
   */
  Benchmark(boolean threeOwnNodes) {
    options = new BenchOptions(threeOwnNodes);
  }

  /** The command with all its options. */
  final CommandLine line() {
    return options.flags.addTo(new CommandLine(this));
  }

  /**
   * Checks the options of this benchmark, beyond their bounds.
   *
   * @throws CommandFailure wrong usage
   */
  void check() {}

  /** Runs the load and prints its figures; gives the exit status. */
  abstract int measure(Target target) throws InterruptedException;

  @Override
  public Integer call() throws InterruptedException {
    Logging.client();
    options.check();
    check();
    try (Target target = opener.open(options)) {
      return measure(target);
    }
  }

  /**
   * @throws CommandFailure wrong usage, if the target is another system
   */
  EvenkeelTarget evenkeel(Target target) {
    if (target instanceof EvenkeelTarget ours) {
      return ours;
    }
    throw CommandFailure.usage(options.name() + " can be measured of Evenkeel only");
  }

  Payloads payloads() {
    return new Payloads(
        options.sizeBytes(), options.keys.get(), 1, options.compression.get() != Compression.NONE);
  }

  /**
   * Creates a topic with a new name, because a running cluster keeps the topics of earlier runs.
   */
  String newTopic(Target target) {
    String topic = TOPIC + Long.toString(System.currentTimeMillis(), Character.MAX_RADIX);
    target.createTopic(topic, options.shards.get());
    return topic;
  }

  static List<Target.Sender> senders(Target target, String topic, int count) {
    List<Target.Sender> senders = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      senders.add(target.sender(topic));
    }
    return senders;
  }

  static List<Target.Receiver> receivers(
      Target target, String topic, String group, int count, Target.Arrival arrival) {
    List<Target.Receiver> receivers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      receivers.add(target.receiver(topic, group, arrival));
    }
    return receivers;
  }

  /**
   * Sends messages, then closes the senders.
   *
   * @throws CommandFailure if a message fails
   */
  ProduceLoad.Outcome send(List<Target.Sender> senders, Payloads payloads, Amount amount)
      throws InterruptedException {
    ProduceLoad.Outcome outcome =
        new ProduceLoad(senders, payloads, options.inFlightMessages()).run(amount);
    senders.forEach(Target.Sender::close);
    return answered(outcome);
  }

  /**
   * The same outcome.
   *
   * @throws CommandFailure if a message has failed
   */
  static ProduceLoad.Outcome answered(ProduceLoad.Outcome outcome) {
    if (outcome.failed() > 0) {
      throw CommandFailure.failed(
          failures(outcome.sent(), outcome.failed(), outcome.firstFailure()));
    }
    return outcome;
  }

  /** The fields that every result begins with. */
  JsonObject result(Target target) {
    return new JsonObject()
        .put("bench", options.name())
        .mergeIn(target.describe())
        .mergeIn(options.describe());
  }

  /** Prints a result, with some of its fields as a table. */
  void print(String columns, JsonObject result) {
    print(columns, result, "");
  }

  /**
   * @param more lines below the table
   */
  void print(String columns, JsonObject result, String more) {
    options.print(Table.of(columns, new JsonArray().add(result)).text() + more, result);
  }

  static int status(long sent, long failed, Throwable first) {
    if (failed == 0) {
      return ExitStatus.DONE;
    }
    complain(failures(sent, failed, first));
    return ExitStatus.FAILED;
  }

  private static String failures(long sent, long failed, Throwable first) {
    return String.format(
        Locale.ROOT,
        "%d of %d messages failed, the first with: %s",
        failed,
        sent,
        first == null ? "no answer" : first);
  }

  static void complain(String text) {
    System.err.println("evenkeel bench: " + text);
  }
}
