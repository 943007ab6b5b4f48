package dev.evenkeel.bench;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Sends messages at a fixed rate. Each payload begins with the time at which it should be sent.
 * Producers and consumers run in one program, so one monotonic clock serves both.
 */
final class LatencyLoad {
  /** The payload begins with the intended time: nanoseconds of the monotonic clock. */
  static final int STAMP_BYTES = Long.BYTES;

  private static final long ANSWERS_SECONDS_MAX = 60;
  private static final long LOOK_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final Payloads payloads;
  private final double perSecond;

  /** From the intended time to the acknowledgement. */
  private final Percentiles acknowledged = new Percentiles();

  /** From the intended time to the consumer. */
  private final Percentiles endToEnd = new Percentiles();

  /** From the intended time to the call that sends: the delay of the load itself. */
  private final Percentiles late = new Percentiles();

  private final AtomicLong answered = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private volatile Throwable firstFailure;
  private volatile long countFromNanos = Long.MAX_VALUE;

  LatencyLoad(Payloads payloads, double perSecond) {
    this.payloads = payloads;
    this.perSecond = perSecond;
  }

  /**
   * The result, without the messages of the warm-up.
   *
   * @param received messages that reached a consumer in time
   */
  record Outcome(
      long sent,
      long failed,
      long received,
      Percentiles acknowledged,
      Percentiles endToEnd,
      Percentiles late,
      Throwable firstFailure) {}

  /** Handles a message in each consumer. */
  Target.Arrival arrival() {
    return payload -> {
      long intended = ByteBuffer.wrap(payload).getLong();
      if (intended >= countFromNanos) {
        endToEnd.add(System.nanoTime() - intended);
      }
    };
  }

  /**
   * Blocks for both times, then until all messages are acknowledged and received, for a minute at
   * most.
   */
  Outcome run(List<Target.Sender> senders, long warmupMillis, long millis)
      throws InterruptedException {
    long begin = System.nanoTime();
    OpenLoop warmup = new OpenLoop(begin, perSecond);
    long warming = warmup.count(TimeUnit.MILLISECONDS.toNanos(warmupMillis));
    send(senders, warmup, warming, false);
    OpenLoop measured = new OpenLoop(warmup.dueNanos(warming), perSecond);
    countFromNanos = measured.startNanos();
    long sent = measured.count(TimeUnit.MILLISECONDS.toNanos(millis));
    send(senders, measured, sent, true);
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(ANSWERS_SECONDS_MAX);
    while ((answered.get() < sent || endToEnd.count() < sent - failed.get())
        && System.nanoTime() < until) {
      TimeUnit.NANOSECONDS.sleep(LOOK_EVERY_NANOS);
    }
    long unanswered = sent - answered.get();
    return new Outcome(
        sent,
        failed.get() + unanswered,
        endToEnd.count(),
        acknowledged,
        endToEnd,
        late,
        firstFailure);
  }

  private void send(List<Target.Sender> senders, OpenLoop loop, long count, boolean counted) {
    List<Target.Sender> each = new ArrayList<>(senders);
    for (long i = 0; i < count; i++) {
      long due = loop.await(i);
      long now = System.nanoTime();
      byte[] payload = payloads.payload(i).clone();
      ByteBuffer.wrap(payload).putLong(due);
      if (counted) {
        late.add(now - due);
      }
      each.get((int) (i % each.size()))
          .send(
              payloads.key(i),
              payload,
              failure -> {
                if (counted) {
                  answered(failure, due);
                }
              });
    }
  }

  private void answered(Throwable failure, long due) {
    if (failure == null) {
      acknowledged.add(System.nanoTime() - due);
    } else {
      failed.incrementAndGet();
      firstFailure = firstFailure == null ? failure : firstFailure;
    }
    answered.incrementAndGet();
  }
}
