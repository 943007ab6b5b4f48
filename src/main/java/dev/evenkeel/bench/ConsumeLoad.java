package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Reads a topic by a new group from its first message to its last. The time is from the first
 * message that any consumer gets to the last: what joining takes is told apart from it.
 */
final class ConsumeLoad {
  private static final long MESSAGES_MINUTES_MAX = 5;

  /** How exactly the end is known; a run takes seconds. */
  private static final long LOOK_EVERY_MILLIS = 1;

  private static final long NOTHING_YET = Long.MIN_VALUE;

  private final Target target;
  private final String topic;
  private final int consumers;
  private final long messages;

  ConsumeLoad(Target target, String topic, int consumers, long messages) {
    this.target = target;
    this.topic = topic;
    this.consumers = consumers;
    this.messages = messages;
  }

  /**
   * What one group did.
   *
   * @param received messages, of which some may have come twice
   * @param nanos from the first message to the last
   * @param joinNanos from the start of the consumers to the first message
   */
  record Outcome(long received, long nanos, long joinNanos) {
    double perSecond() {
      return received / (nanos / 1e9);
    }
  }

  Outcome run(String group) throws InterruptedException {
    AtomicLong first = new AtomicLong(NOTHING_YET);
    List<Count> counts = new ArrayList<>();
    List<Target.Receiver> receivers = new ArrayList<>();
    long begin = System.nanoTime();
    try {
      for (int i = 0; i < consumers; i++) {
        Count count = new Count(first);
        counts.add(count);
        receivers.add(target.receiver(topic, group, count));
      }
      while (sum(counts) < messages) {
        if (System.nanoTime() - begin > TimeUnit.MINUTES.toNanos(MESSAGES_MINUTES_MAX)) {
          throw CommandFailure.failed(
              "only "
                  + sum(counts)
                  + " of "
                  + messages
                  + " messages came within "
                  + MESSAGES_MINUTES_MAX
                  + " min");
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

  /** What has come to one consumer; written by its thread only. */
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
      // One writer: no need for the cost of an atomic increment.
      received.lazySet(++mine);
    }
  }
}
