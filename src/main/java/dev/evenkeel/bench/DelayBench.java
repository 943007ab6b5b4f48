package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.Table;
import dev.evenkeel.protocol.Limits;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

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

  private final Supplier<Integer> consumers = options.consumers();

  private final Supplier<Double> rate =
      options.flags.perSecond("--rate", "1000", 1_000_000, "Messages due a second");

  private final Supplier<Long> messages =
      options.flags.number("--messages", "20000", 1, 1_000_000_000L, "Messages that become due");

  private final Supplier<Long> waiting =
      options.flags.number(
          "--waiting",
          "0",
          0,
          1_000_000_000L,
          "Messages that are sent before and wait all the time, due in a week");

  private final Supplier<Long> leadMillis =
      options.flags.time(
          "--lead",
          "10s",
          "From the first message sent until the first one is due; all should be sent by then");

  @Override
  void check() {
    options.needBytes(DelayLoad.STAMP_BYTES, "a message carries its time");
    if (leadMillis.get() + messages.get() / rate.get() * 1_000 > Limits.DELAY_MILLIS_MAX) {
      throw CommandFailure.usage("the last message would be due in more than 30 days");
    }
  }

  @Override
  int measure(Target opened) throws InterruptedException {
    EvenkeelTarget target = evenkeel(opened);
    String topic = newTopic(target);
    DelayLoad load = new DelayLoad(payloads(), options.inFlightMessages());
    List<Target.Receiver> receivers =
        receivers(target, topic, topic + "-group", consumers.get(), load.arrival());
    DelayLoad.Outcome outcome;
    Double heapEmpty = heapMegabytes(target);
    Double heapWaiting;
    try (DelayLoad.DelayedSender sender = target.delayedSender(topic)) {
      load.fill(sender, waiting.get(), System.currentTimeMillis() + WAITING_MILLIS);
      heapWaiting = heapMegabytes(target);
      outcome = load.run(sender, messages.get(), rate.get(), leadMillis.get());
    }
    receivers.forEach(Target.Receiver::close);
    Double heapEnd = heapMegabytes(target);
    Table heap =
        new Table("HEAP OF NODES", "EMPTY", "ALL WAIT", "END")
            .row("MB, garbage included", heapEmpty, heapWaiting, heapEnd);
    options.print(
        Percentiles.table().row(outcome.lateness().row("late")).text() + "\n" + heap.text(),
        result(target)
            .put("rate", rate.get())
            .put("consumers", consumers.get())
            .put("waiting", waiting.get())
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
