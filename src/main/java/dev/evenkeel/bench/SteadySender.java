package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.util.Daemon;
import java.util.concurrent.TimeUnit;

/** Sends at a steady rate on a thread of its own, until it is stopped. */
final class SteadySender {
  /** Sends the i-th message and passes its result to {@code done}. */
  interface Next {
    void send(long i, Target.Done done);
  }

  private final Target.Sender sender;
  private final InFlight inFlight;
  private final Thread thread;
  private volatile boolean stopping;
  private volatile long sent;

  /**
   * @param sender closed at the end
   * @param inFlightMax how many messages may wait for an answer
   */
  SteadySender(Target.Sender sender, long inFlightMax, double perSecond, Next next) {
    this.sender = sender;
    inFlight = new InFlight(inFlightMax);
    OpenLoop loop = new OpenLoop(System.nanoTime(), perSecond);
    thread =
        Daemon.start(
            "bench-send",
            () -> {
              for (long i = 0; !stopping; i++) {
                loop.await(i);
                inFlight.sending();
                next.send(i, inFlight);
                sent = i + 1;
              }
            });
  }

  /** Stops sending. */
  void stop() {
    stopping = true;
  }

  /**
   * Stops sending, and waits for all answers.
   *
   * @throws CommandFailure if they do not come in time
   */
  void finish(long secondsMax) throws InterruptedException {
    stop();
    thread.join();
    boolean answered = inFlight.awaitAll(TimeUnit.SECONDS.toNanos(secondsMax));
    sender.close();
    if (!answered) {
      throw CommandFailure.failed(inFlight.unanswered() + " messages have had no answer");
    }
  }

  long sent() {
    return sent;
  }

  long failed() {
    return inFlight.failed();
  }

  Throwable firstFailure() {
    return inFlight.firstFailure();
  }
}
