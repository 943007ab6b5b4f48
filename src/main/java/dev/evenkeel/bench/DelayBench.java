package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.OptionFormats;
import dev.evenkeel.cli.Table;
import dev.evenkeel.protocol.Limits;
import java.util.List;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

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
final class DelayBench extends Benchmark {
  private static final long WAITING_MILLIS = TimeUnit.DAYS.toMillis(7);

  @Mixin private BenchOptions.Consumers consumers;

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
      converter = OptionFormats.Time.class,
      defaultValue = "10s",
      description =
          "From the first message sent until the first one is due; all should be sent by then"
              + " (default: ${DEFAULT-VALUE}).")
  private long leadMillis;

  @Override
  void check() {
    consumers.check();
    OptionFormats.rate("--rate", rate, 1_000_000);
    OptionFormats.range("--messages", messages, 1, 1_000_000_000L);
    OptionFormats.range("--waiting", waiting, 0, 1_000_000_000L);
    options.needBytes(DelayLoad.STAMP_BYTES, "a message carries its time");
    if (leadMillis + messages / rate * 1_000 > Limits.DELAY_MILLIS_MAX) {
      throw CommandFailure.usage("the last message would be due in more than 30 days");
    }
  }

  @Override
  int measure(Target opened) throws InterruptedException {
    EvenkeelTarget target = evenkeel(opened);
    String topic = newTopic(target);
    DelayLoad load = new DelayLoad(payloads(), options.inFlightMessages());
    List<Target.Receiver> receivers =
        receivers(target, topic, topic + "-group", consumers.count, load.arrival());
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
    Table heap =
        new Table("HEAP OF NODES", "EMPTY", "ALL WAIT", "END")
            .row("MB, garbage included", heapEmpty, heapWaiting, heapEnd);
    options.print(
        Percentiles.table().row(outcome.lateness().row("late")).text() + "\n" + heap.text(),
        result(target)
            .put("rate", rate)
            .put("consumers", consumers.count)
            .put("waiting", waiting)
            .put("sent", outcome.sent())
            .put("failed", outcome.failed())
            .put("received", outcome.received())
            .put("early", outcome.early())
            .put("sentLate", outcome.sentLate())
            .put("lateness", outcome.lateness().json())
            .put("heapEmptyMegabytes", heapEmpty)
            .put("heapWaitingMegabytes", heapWaiting)
            .put("heapEndMegabytes", heapEnd));
    return status(outcome);
  }

  private static int status(DelayLoad.Outcome outcome) {
    if (outcome.sentLate() > 0) {
      complain(
          outcome.sentLate()
              + " messages were due before all were sent: a longer --lead tells more");
    }
    if (outcome.early() > 0 || outcome.received() != outcome.sent() - outcome.failed()) {
      complain(
          "of "
              + outcome.sent()
              + " messages "
              + outcome.received()
              + " came, "
              + outcome.early()
              + " of them before they were due");
      return ExitStatus.FAILED;
    }
    return status(outcome.sent(), outcome.failed(), outcome.firstFailure());
  }

  /** Null for a cluster that was not started here, or does not tell. */
  private static Double heapMegabytes(EvenkeelTarget target) {
    double bytes = target.nodes() == null ? Double.NaN : target.nodes().heapBytes();
    return Double.isNaN(bytes) ? null : (Double) Stats.rounded(bytes / 1e6);
  }
}
