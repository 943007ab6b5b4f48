package dev.evenkeel.bench;

import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Single messages at a fixed rate, in turn through each of several senders, so that all of them see
 * the same machine. Each is sent when the one before it has been answered, or has its time.
 */
final class SingleLoad {
  private static final long ANSWER_SECONDS_MAX = 60;

  private final Payloads payloads;
  private final double perSecond;

  /**
   * @param perSecond messages of each sender
   */
  SingleLoad(Payloads payloads, double perSecond) {
    this.payloads = payloads;
    this.perSecond = perSecond;
  }

  /**
   * Blocks for {@code millis} and until all is answered.
   *
   * @param latencies one for each sender: from the call that sends to the answer
   * @throws IllegalStateException if a message failed
   */
  void run(List<Target.Sender> senders, List<Percentiles> latencies, long millis)
      throws InterruptedException {
    OpenLoop loop = new OpenLoop(System.nanoTime(), perSecond * senders.size());
    long count = loop.count(TimeUnit.MILLISECONDS.toNanos(millis));
    for (long i = 0; i < count; i++) {
      loop.await(i);
      int which = (int) (i % senders.size());
      latencies.get(which).add(one(senders.get(which), i));
    }
  }

  private long one(Target.Sender sender, long i) {
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
    // It reads what the answer wrote before it counted itself.
    if (!answer.awaitAll(TimeUnit.SECONDS.toNanos(ANSWER_SECONDS_MAX)) || answer.failed() > 0) {
      throw new IllegalStateException(
          "a message was not acknowledged: " + answer.firstFailure(), answer.firstFailure());
    }
    return end[0] - begin;
  }
}
