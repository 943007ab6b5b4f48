package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.Table;
import dev.evenkeel.protocol.Limits;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** {@code evenkeel bench delay}. */
@Command(
    name = "delay",
    mixinStandardHelpOptions = true,
    description = {
      "How late delayed messages come, and what memory those cost that wait.",
      "All are sent first, due evenly at a rate. Lateness is from when a message is due until a"
          + " consumer has it."
    },
    footer = {
      "",
      "Examples:",
      "  evenkeel bench delay",
      "  evenkeel bench delay --rate 1000 --messages 60000 --waiting 1000000 --node-jvm -Xmx256m",
      "",
      "Heap is that of the own nodes together, garbage included: bound it by --node-jvm."
    })
final class DelayBench implements Callable<Integer> {
  private static final long WAITING_MILLIS = TimeUnit.DAYS.toMillis(7);

  @ParentCommand private BenchCommand bench;

  @Mixin private BenchOptions options;

  @Mixin private ConsumersOption consumersOption;

  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "1000",
      description = "Messages due a second (default: ${DEFAULT-VALUE}).")
  private double rate;

  @Option(
      names = "--messages",
      paramLabel = "N",
      defaultValue = "20000",
      description = "Messages that become due (default: ${DEFAULT-VALUE}).")
  private long messages;

  @Option(
      names = "--waiting",
      paramLabel = "N",
      defaultValue = "0",
      description =
          "Messages that are sent before and wait all the time, due in a week (default:"
              + " ${DEFAULT-VALUE}).")
  private long waiting;

  @Option(
      names = "--lead",
      paramLabel = "TIME",
      defaultValue = "10s",
      description =
          "From the first message sent until the first one is due; all should be sent by then"
              + " (default: ${DEFAULT-VALUE}).")
  private String lead;

  @Override
  public Integer call() throws InterruptedException {
    options.check();
    int consumers = consumersOption.checked();
    if (!(rate > 0 && rate <= 1e6)) {
      throw CommandFailure.usage("--rate " + rate + ": it must be above 0, and at most 1000000");
    }
    BenchOptions.range("--messages", messages, 1, 1_000_000_000L);
    BenchOptions.range("--waiting", waiting, 0, 1_000_000_000L);
    if (options.sizeBytes() < DelayLoad.STAMP_BYTES) {
      throw CommandFailure.usage(
          "--size: a message carries its time, so it needs " + DelayLoad.STAMP_BYTES + " bytes");
    }
    long leadMillis = BenchOptions.millis("--lead", lead);
    if (leadMillis + messages / rate * 1_000 > Limits.DELAY_MILLIS_MAX) {
      throw CommandFailure.usage("the last message would be due in more than 30 days");
    }
    bench.logging();
    try (Target opened = bench.open(options)) {
      if (!(opened instanceof EvenkeelTarget target)) {
        throw CommandFailure.usage("delay is measured of Evenkeel only");
      }
      return measure(target, consumers, leadMillis);
    }
  }

  private int measure(EvenkeelTarget target, int consumers, long leadMillis)
      throws InterruptedException {
    String topic = BenchRun.newTopic(target, options);
    DelayLoad load =
        new DelayLoad(
            new Payloads(options.sizeBytes(), options.keys(), 1), options.inFlightMessages());
    List<Target.Receiver> receivers = new ArrayList<>();
    for (int i = 0; i < consumers; i++) {
      receivers.add(target.receiver(topic, topic + "-group", load.arrival()));
    }
    DelayLoad.Outcome outcome;
    Double heapEmpty = heapMegabytes(target);
    Double heapWaiting;
    try (DelayLoad.DelayedSender sender = target.delayedSender(topic)) {
      load.fill(sender, waiting, System.currentTimeMillis() + WAITING_MILLIS);
      heapWaiting = heapMegabytes(target);
      outcome = load.run(sender, messages, rate, leadMillis);
    }
    receivers.forEach(Target.Receiver::close);
    Double heapEnd = heapMegabytes(target);
    JsonObject json =
        BenchRun.result("delay", target, options)
            .put("rate", rate)
            .put("consumers", consumers)
            .put("waiting", waiting)
            .put("sent", outcome.sent())
            .put("failed", outcome.failed())
            .put("received", outcome.received())
            .put("early", outcome.early())
            .put("sentLate", outcome.sentLate())
            .put("lateness", outcome.lateness().json())
            .put("heapEmptyMegabytes", heapEmpty)
            .put("heapWaitingMegabytes", heapWaiting)
            .put("heapEndMegabytes", heapEnd);
    Table table =
        new Table("MILLISECONDS", "COUNT", "P50", "P90", "P99", "P99.9", "MAX")
            .row(outcome.lateness().row("late"));
    Table heap =
        new Table("HEAP OF NODES", "EMPTY", "ALL WAIT", "END")
            .row("MB, garbage included", heapEmpty, heapWaiting, heapEnd);
    options.print(table.text() + "\n" + heap.text(), json);
    return status(outcome);
  }

  private static int status(DelayLoad.Outcome outcome) {
    if (outcome.sentLate() > 0) {
      System.err.println(
          "evenkeel bench: "
              + outcome.sentLate()
              + " messages were due before all were sent: a longer --lead tells more");
    }
    if (outcome.early() > 0 || outcome.received() != outcome.sent() - outcome.failed()) {
      System.err.println(
          "evenkeel bench: of "
              + outcome.sent()
              + " messages "
              + outcome.received()
              + " came, "
              + outcome.early()
              + " of them before they were due");
      return ExitStatus.FAILED;
    }
    return BenchRun.status(outcome.sent(), outcome.failed(), outcome.firstFailure());
  }

  /** Null for a cluster that was not started here, or does not tell. */
  private static Double heapMegabytes(EvenkeelTarget target) {
    double bytes = target.nodes() == null ? Double.NaN : target.nodes().heapBytes();
    return Double.isNaN(bytes) ? null : (Double) BenchRun.rounded(bytes / 1e6);
  }
}
