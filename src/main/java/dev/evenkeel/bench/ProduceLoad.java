package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.util.Daemon;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Sends as fast as the system allows: each producer has a thread that sends while the messages in
 * flight are below their bound. A run lasts from the first message to the last answer; the warm-up
 * is a run of its own.
 */
final class ProduceLoad {
  private static final long ANSWERS_MINUTES_MAX = 3;

  /** How many messages are sent between two readings of the clock. */
  private static final int CLOCK_EVERY = 64;

  private final List<Target.Sender> senders;
  private final Payloads payloads;
  private final long inFlightEach;

  /**
   * @param inFlightMessages the bound for all senders together
   */
  ProduceLoad(List<Target.Sender> senders, Payloads payloads, long inFlightMessages) {
    this.senders = senders;
    this.payloads = payloads;
    inFlightEach = Math.max(1, inFlightMessages / senders.size());
  }

  /** The result of one run. */
  record Outcome(long sent, long failed, long nanos, Throwable firstFailure) {
    long acked() {
      return sent - failed;
    }

    double perSecond() {
      return acked() / (nanos / 1e9);
    }
  }

  /** Sends, and blocks until all messages are answered. */
  Outcome run(Amount amount) throws InterruptedException {
    List<InFlight> flights = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    LongAdder sent = new LongAdder();
    long begin = System.nanoTime();
    for (int i = 0; i < senders.size(); i++) {
      Target.Sender sender = senders.get(i);
      InFlight inFlight = new InFlight(inFlightEach);
      Amount share = amount.share(i, senders.size());
      flights.add(inFlight);
      threads.add(
          Daemon.start("bench-produce-" + i, () -> sent.add(send(sender, inFlight, share, begin))));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    long nanos = System.nanoTime() - begin;
    long failed = 0;
    Throwable first = null;
    for (InFlight each : flights) {
      if (each.unanswered() > 0) {
        throw CommandFailure.failed(
            each.unanswered() + " messages had no answer within " + ANSWERS_MINUTES_MAX + " min");
      }
      failed += each.failed();
      first = first == null ? each.firstFailure() : first;
    }
    return new Outcome(sent.sum(), failed, nanos, first);
  }

  private long send(Target.Sender sender, InFlight inFlight, Amount amount, long begin) {
    long sent = 0;
    long elapsed = System.nanoTime() - begin;
    while (amount.goesOn(sent, elapsed)) {
      inFlight.sending();
      sender.send(payloads.key(sent), payloads.payload(sent), inFlight);
      if (++sent % CLOCK_EVERY == 0) {
        elapsed = System.nanoTime() - begin;
      }
    }
    inFlight.awaitAll(TimeUnit.MINUTES.toNanos(ANSWERS_MINUTES_MAX));
    return sent;
  }
}
