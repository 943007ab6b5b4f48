package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.ExitStatus;
import dev.evenkeel.cli.Table;
import dev.evenkeel.protocol.Limits;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

/** {@code evenkeel bench delay}. */
@Command(
    name = "delay",
    description = {
      "Measures how late delayed messages arrive, and how much memory waiting ones need.",
      "It sends all messages first; they are due at an even rate. The lateness of a message is the"
          + " time from when it is due until a consumer has it."
    },
    footer = {
      "  evenkeel bench delay",
      "  evenkeel bench delay --rate 1000 --messages 60000 --waiting 1000000 --node-jvm -Xmx256m",
      "",
      "The heap is that of all own nodes, including garbage; bound it with --node-jvm."
    })
final class DelayBench extends Benchmark {
  /** The payload begins with the time at which it is due: milliseconds since 1970, or 0. */
  static final int STAMP_BYTES = Long.BYTES;

  private static final long ANSWERS_MINUTES_MAX = 10;
  private static final long LATE_SECONDS_MAX = 60;
  private static final long LOOK_EVERY_MILLIS = 5;

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
          "Further messages that are sent first and stay delayed, due in a week");

  private final Supplier<Long> leadMillis =
      options.flags.time(
          "--lead",
          "10s",
          "Time from the first send until the first message is due; all should be sent by then");

  /** From when a message was due until a consumer had it. */
  private final Percentiles lateness = new Percentiles();

  /** Messages that came before they were due; there must be none. */
  private final AtomicLong early = new AtomicLong();

  private InFlight inFlight;

  /** Sends messages with a time at which they are due. */
  interface DelayedSender extends AutoCloseable {
    void send(byte[] key, byte[] payload, long dueMillis, Target.Done done);

    @Override
    void close();
  }

  @Override
  void check() {
    options.needBytes(STAMP_BYTES, "a message carries its time");
    CommandFailure.refuseIf(
        leadMillis.get() + messages.get() / rate.get() * 1_000 > Limits.DELAY_MILLIS_MAX,
        "the last message would be due in more than 30 days");
  }

  @Override
  int measure(Target opened) throws InterruptedException {
    EvenkeelTarget target = evenkeel(opened);
    String topic = newTopic(target);
    Payloads payloads = payloads();
    inFlight = new InFlight(options.inFlightMessages());
    List<Target.Receiver> receivers =
        receivers(target, topic, topic + "-group", consumers.get(), arrival());
    JsonObject outcome;
    Double heapEmpty = heapMegabytes(target);
    Double heapWaiting;
    try (DelayedSender sender = target.delayedSender(topic)) {
      fill(sender, payloads, System.currentTimeMillis() + WAITING_MILLIS);
      heapWaiting = heapMegabytes(target);
      outcome = run(sender, payloads);
    }
    receivers.forEach(Target.Receiver::close);
    Double heapEnd = heapMegabytes(target);
    Table heap =
        new Table("HEAP OF NODES", "EMPTY", "ALL WAIT", "END")
            .row("MB, garbage included", heapEmpty, heapWaiting, heapEnd);
    options.print(
        Percentiles.table().row(lateness.row("late")).text() + "\n" + heap.text(),
        result(target)
            .put("rate", rate.get())
            .put("consumers", consumers.get())
            .put("waiting", waiting.get())
            .mergeIn(outcome)
            .put("heapEmptyMegabytes", heapEmpty)
            .put("heapWaitingMegabytes", heapWaiting)
            .put("heapEndMegabytes", heapEnd));
    return status(
        outcome.getLong("sent"),
        outcome.getLong("failed"),
        outcome.getLong("received"),
        outcome.getLong("sentLate"));
  }

  private int status(long sent, long failed, long received, long sentLate) {
    if (sentLate > 0) {
      complain(sentLate + " messages were due before all were sent: a longer --lead tells more");
    }
    if (early.get() > 0 || received != sent - failed) {
      complain(
          "of %s messages %s came, %s of them before they were due"
              .formatted(sent, received, early));
      return ExitStatus.FAILED;
    }
    return status(sent, failed, inFlight.firstFailure());
  }

  /** Null for a running cluster, or if a node does not answer. */
  private static Double heapMegabytes(EvenkeelTarget target) {
    double bytes = target.nodes() == null ? Double.NaN : target.nodes().heapBytes();
    return Double.isNaN(bytes) ? null : (Double) Stats.rounded(bytes / 1e6);
  }

  /** Handles a message in each consumer. */
  private Target.Arrival arrival() {
    return payload -> {
      long due = ByteBuffer.wrap(payload).getLong();
      long late = System.currentTimeMillis() - due;
      if (late < 0) {
        early.incrementAndGet();
      }
      lateness.add(TimeUnit.MILLISECONDS.toNanos(Math.max(0, late)));
    };
  }

  /**
   * Sends messages that stay delayed while the load runs. Blocks until all are acknowledged.
   *
   * @param dueMillis when the first of them is due, long after the load
   */
  private void fill(DelayedSender sender, Payloads payloads, long dueMillis) {
    for (long i = 0; i < waiting.get(); i++) {
      inFlight.sending();
      // The times spread over a minute, so that batches are due at different times.
      sender.send(
          payloads.key(i), payloads.payload(i), dueMillis + i * 60_000 / waiting.get(), inFlight);
    }
    inFlight.awaitAll(TimeUnit.MINUTES.toNanos(ANSWERS_MINUTES_MAX));
  }

  /**
   * Sends all messages, and blocks until they have come or the last one is a minute late; gives the
   * figures.
   */
  private JsonObject run(DelayedSender sender, Payloads payloads) throws InterruptedException {
    long begin = System.currentTimeMillis() + leadMillis.get();
    OpenLoop loop = new OpenLoop(TimeUnit.MILLISECONDS.toNanos(begin), rate.get());
    for (long i = 0; i < messages.get(); i++) {
      long due = TimeUnit.NANOSECONDS.toMillis(loop.dueNanos(i));
      byte[] payload = payloads.payload(i).clone();
      ByteBuffer.wrap(payload).putLong(due);
      inFlight.sending();
      sender.send(payloads.key(i), payload, due, inFlight);
    }
    inFlight.awaitAll(TimeUnit.MINUTES.toNanos(ANSWERS_MINUTES_MAX));
    double lateMillis = System.currentTimeMillis() - begin;
    long sentLate =
        Math.min(messages.get(), Math.round(Math.max(0, lateMillis) * rate.get() / 1_000));
    long until =
        TimeUnit.NANOSECONDS.toMillis(loop.dueNanos(messages.get()))
            + TimeUnit.SECONDS.toMillis(LATE_SECONDS_MAX);
    while (lateness.count() < messages.get() - inFlight.failed()
        && System.currentTimeMillis() < until) {
      TimeUnit.MILLISECONDS.sleep(LOOK_EVERY_MILLIS);
    }
    return new JsonObject()
        .put("sent", messages.get())
        .put("failed", inFlight.failed() + inFlight.unanswered())
        .put("received", lateness.count())
        .put("early", early.get())
        .put("sentLate", sentLate)
        .put("lateness", lateness.json());
  }
}
