package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.ExitStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

/** {@code evenkeel bench consume}. */
@Command(
    name = "consume",
    description = {
      "Measures how many messages a second a group reads.",
      "It first fills a topic. One group reads that as a warm-up; then another group is measured"
          + " from its first message to its last."
    },
    footer = {
      "  evenkeel bench consume",
      "  evenkeel bench consume --messages 5000000 --consumers 3",
      "  evenkeel bench consume --size 1KiB --messages 500000 --format json"
    })
final class ConsumeBench extends Benchmark {
  private static final long MESSAGES_MINUTES_MAX = 5;

  /** The resolution of the end time; a run takes seconds. */
  private static final long LOOK_EVERY_MILLIS = 1;

  private static final long NOTHING_YET = Long.MIN_VALUE;

  private final Supplier<Integer> producers = options.producers();
  private final Supplier<Integer> consumers = options.consumers();

  private final Supplier<Long> messages =
      options.flags.number("--messages", "1000000", 1, 10_000_000_000L, "Messages in the topic");

  private final Supplier<Integer> warmup =
      options.flags.integer(
          "--warmup", "1", 0, 100, "How many groups read the topic before anything is counted");

  @Override
  int measure(Target target) throws InterruptedException {
    String topic = newTopic(target);
    send(senders(target, topic, producers.get()), payloads(), Amount.messages(messages.get()));
    for (int i = 0; i < warmup.get(); i++) {
      read(target, topic, topic + "-warmup-" + i);
    }
    Outcome outcome = read(target, topic, topic + "-measured");
    print(
        "MESSAGES/S messagesPerSecond, MIB/S mebibytesPerSecond, RECEIVED received,"
            + " SECONDS seconds, JOIN SECONDS joinSeconds",
        result(target)
            .put("consumers", consumers.get())
            .put("messages", messages.get())
            .put("received", outcome.received())
            .put("joinSeconds", Stats.seconds(outcome.joinNanos()))
            .put("seconds", Stats.seconds(outcome.nanos()))
            .put("messagesPerSecond", Math.round(outcome.perSecond()))
            .put("mebibytesPerSecond", options.mebibytes(outcome.perSecond())));
    return ExitStatus.DONE;
  }

  /**
   * The result of one group.
   *
   * @param received messages, including redelivered ones
   * @param nanos from the first message to the last
   * @param joinNanos from the start of the consumers to the first message
   */
  private record Outcome(long received, long nanos, long joinNanos) {
    double perSecond() {
      return received / (nanos / 1e9);
    }
  }

  /** Reads the topic with a new group; the time for joining is measured separately. */
  private Outcome read(Target target, String topic, String group) throws InterruptedException {
    AtomicLong first = new AtomicLong(NOTHING_YET);
    List<Count> counts = new ArrayList<>();
    List<Target.Receiver> receivers = new ArrayList<>();
    long begin = System.nanoTime();
    try {
      for (int i = 0; i < consumers.get(); i++) {
        Count count = new Count(first);
        counts.add(count);
        receivers.add(target.receiver(topic, group, count));
      }
      while (sum(counts) < messages.get()) {
        if (System.nanoTime() - begin > TimeUnit.MINUTES.toNanos(MESSAGES_MINUTES_MAX)) {
          throw CommandFailure.failed(
              "only %s of %s messages came within %s min"
                  .formatted(sum(counts), messages.get(), MESSAGES_MINUTES_MAX));
        }
        TimeUnit.MILLISECONDS.sleep(LOOK_EVERY_MILLIS);
      }
      long end = System.nanoTime();
      return new Outcome(sum(counts), end - first.get(), first.get() - begin);
    } finally {
      receivers.forEach(Target.Receiver::close);
    }
  }

  private static long sum(List<Count> counts) {
    return counts.stream().mapToLong(count -> count.received.get()).sum();
  }

  /** Counts the messages of one consumer; only its thread writes. */
  private static final class Count implements Target.Arrival {
    final AtomicLong received = new AtomicLong();
    private final AtomicLong first;
    private long mine;

    Count(AtomicLong first) {
      this.first = first;
    }

    @Override
    public void arrived(byte[] payload) {
      if (mine == 0) {
        first.compareAndSet(NOTHING_YET, System.nanoTime());
      }
      // There is one writer, so this needs no atomic increment.
      received.lazySet(++mine);
    }
  }
}
