package dev.evenkeel.bench;

import dev.evenkeel.cli.ExitStatus;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

/** {@code evenkeel bench single}. */
@Command(
    name = "single",
    description = {
      "Measures whether a single message waits for a batch: sends messages now and then, in turn"
          + " through a producer and as bare requests.",
      "Both should take the same time, because a producer lingers only while a batch is in flight."
    },
    footer = {
      "  evenkeel bench single",
      "  evenkeel bench single --rate 1 --duration 2m --nodes 3 --format json"
    })
final class SingleBench extends Benchmark {
  private static final long ANSWER_SECONDS_MAX = 60;
  private static final double WARMUP_FACTOR = 200;

  private final Supplier<Double> rate =
      options.flags.perSecond("--rate", "1", 1_000, "Messages a second of each kind");

  private final Supplier<Long> durationMillis =
      options.flags.someTime("--duration", "60s", "How long to measure");

  private final Supplier<Long> warmupMillis =
      options.flags.time(
          "--warmup", "5s", "How long to send at 200 times the rate before anything is counted");

  @Override
  int measure(Target opened) throws InterruptedException {
    EvenkeelTarget target = evenkeel(opened);
    String topic = newTopic(target);
    List<Target.Sender> senders = List.of(target.sender(topic), target.bareSender(topic));
    if (warmupMillis.get() > 0) {
      List<Percentiles> unused = List.of(new Percentiles(), new Percentiles());
      run(payloads(), rate.get() * WARMUP_FACTOR, senders, unused, warmupMillis.get());
    }
    Percentiles producer = new Percentiles();
    Percentiles bare = new Percentiles();
    run(payloads(), rate.get(), senders, List.of(producer, bare), durationMillis.get());
    senders.forEach(Target.Sender::close);
    options.print(
        Percentiles.table().row(producer.row("producer")).row(bare.row("bare request")).text(),
        result(target)
            .put("rate", rate.get())
            .put("producer", producer.json())
            .put("bare", bare.json())
            .put("p50Ratio", Stats.rounded(producer.millis(50) / bare.millis(50))));
    return ExitStatus.DONE;
  }

  /**
   * Sends single messages at a fixed rate, in turn through each sender, so that all senders run
   * under the same conditions. A message waits for its time and for the answer to the one before.
   * Blocks for {@code millis}, then until all are answered.
   *
   * @param perSecond messages of each sender
   * @param latencies one for each sender: the time from sending to the answer
   * @throws IllegalStateException if a message failed
   */
  static void run(
      Payloads payloads,
      double perSecond,
      List<Target.Sender> senders,
      List<Percentiles> latencies,
      long millis)
      throws InterruptedException {
    OpenLoop loop = new OpenLoop(System.nanoTime(), perSecond * senders.size());
    long count = loop.count(TimeUnit.MILLISECONDS.toNanos(millis));
    for (long i = 0; i < count; i++) {
      loop.await(i);
      int which = (int) (i % senders.size());
      latencies.get(which).add(one(payloads, senders.get(which), i));
    }
  }

  private static long one(Payloads payloads, Target.Sender sender, long i) {
    InFlight answer = new InFlight(1);
    answer.sending();
    long begin = System.nanoTime();
    long[] end = new long[1];
    sender.send(
        payloads.key(i),
        payloads.payload(i),
        failure -> {
          end[0] = System.nanoTime();
          answer.done(failure);
        });
    // The callback writes the end before it counts the answer, so awaitAll makes it visible.
    if (!answer.awaitAll(TimeUnit.SECONDS.toNanos(ANSWER_SECONDS_MAX)) || answer.failed() > 0) {
      throw new IllegalStateException(
          "a message was not acknowledged: " + answer.firstFailure(), answer.firstFailure());
    }
    return end[0] - begin;
  }
}
