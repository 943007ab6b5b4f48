package dev.evenkeel.bench;

import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Delayed messages that are due evenly, each with its time in its payload. How late a message is
 * counts from that time, by the clock of the machine: it is sent long before.
 */
final class DelayLoad {
  /** The payload begins with the time at which it is due: milliseconds since 1970, or 0. */
  static final int STAMP_BYTES = Long.BYTES;

  private static final long ANSWERS_MINUTES_MAX = 10;
  private static final long LATE_SECONDS_MAX = 60;
  private static final long LOOK_EVERY_MILLIS = 5;

  private final Payloads payloads;
  private final InFlight inFlight;

  /** From when it was due to the consumer. */
  private final Percentiles lateness = new Percentiles();

  private final AtomicLong early = new AtomicLong();

  DelayLoad(Payloads payloads, long inFlightMessages) {
    this.payloads = payloads;
    inFlight = new InFlight(inFlightMessages);
  }

  /** Sends a message that is due at a time. */
  interface DelayedSender extends AutoCloseable {
    void send(byte[] key, byte[] payload, long dueMillis, Target.Done done);

    @Override
    void close();
  }

  /**
   * What came of it.
   *
   * @param early messages that came before they were due, which must not be
   * @param sentLate messages that were due before all were sent, so that they are in no figure of
   *     the queue alone; with some, begin later
   */
  record Outcome(
      long sent,
      long failed,
      long received,
      long early,
      long sentLate,
      Percentiles lateness,
      Throwable firstFailure) {}

  /** What each consumer is to do with a message. */
  Target.Arrival arrival() {
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
   * Sends messages that nobody will receive while the load runs. Blocks until all are acknowledged.
   *
   * @param dueMillis far away
   */
  void fill(DelayedSender sender, long messages, long dueMillis) {
    for (long i = 0; i < messages; i++) {
      inFlight.sending();
      // A minute of different times: all of a batch are due at one.
      sender.send(
          payloads.key(i), payloads.payload(i), dueMillis + i * 60_000 / messages, inFlight);
    }
    inFlight.awaitAll(TimeUnit.MINUTES.toNanos(ANSWERS_MINUTES_MAX));
  }

  /** Sends all, and blocks until they have come, or the last one is a minute late. */
  Outcome run(DelayedSender sender, long messages, double perSecond, long leadMillis)
      throws InterruptedException {
    long begin = System.currentTimeMillis() + leadMillis;
    OpenLoop loop = new OpenLoop(TimeUnit.MILLISECONDS.toNanos(begin), perSecond);
    for (long i = 0; i < messages; i++) {
      long due = TimeUnit.NANOSECONDS.toMillis(loop.dueNanos(i));
      byte[] payload = payloads.payload(i).clone();
      ByteBuffer.wrap(payload).putLong(due);
      inFlight.sending();
      sender.send(payloads.key(i), payload, due, inFlight);
    }
    inFlight.awaitAll(TimeUnit.MINUTES.toNanos(ANSWERS_MINUTES_MAX));
    double lateMillis = System.currentTimeMillis() - begin;
    long sentLate = Math.min(messages, Math.round(Math.max(0, lateMillis) * perSecond / 1_000));
    long until =
        TimeUnit.NANOSECONDS.toMillis(loop.dueNanos(messages))
            + TimeUnit.SECONDS.toMillis(LATE_SECONDS_MAX);
    while (lateness.count() < messages - inFlight.failed() && System.currentTimeMillis() < until) {
      TimeUnit.MILLISECONDS.sleep(LOOK_EVERY_MILLIS);
    }
    return new Outcome(
        messages,
        inFlight.failed() + inFlight.unanswered(),
        lateness.count(),
        early.get(),
        sentLate,
        lateness,
        inFlight.firstFailure());
  }
}
