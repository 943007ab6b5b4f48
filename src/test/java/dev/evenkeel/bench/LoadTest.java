package dev.evenkeel.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The loads against a system that is a queue in memory. */
class LoadTest {
  /** Answers only when so many wait, so that what is in flight can be seen. */
  private static final class Holding implements Target.Sender {
    private final int answerAt;
    private final int failEvery;
    private final Deque<Target.Done> waiting = new ArrayDeque<>();
    int most;
    int sent;

    Holding(int answerAt, int failEvery) {
      this.answerAt = answerAt;
      this.failEvery = failEvery;
    }

    @Override
    public void send(byte[] key, byte[] payload, Target.Done done) {
      waiting.add(done);
      most = Math.max(most, waiting.size());
      sent++;
      while (waiting.size() >= answerAt) {
        boolean fails = failEvery > 0 && sent % failEvery == 0;
        waiting.poll().done(fails ? new IllegalStateException("as planned") : null);
      }
    }

    @Override
    public void close() {
      waiting.forEach(done -> done.done(null));
    }
  }

  @Test
  void everyProducerSendsItsShareAndFailuresAreCounted() throws InterruptedException {
    Holding one = new Holding(1, 10);
    Holding two = new Holding(1, 0);
    ProduceLoad load = new ProduceLoad(List.of(one, two), new Payloads(10, 3, 1), 100);
    ProduceLoad.Outcome outcome = load.run(Amount.messages(2_001));
    assertThat(outcome.sent()).isEqualTo(2_001);
    assertThat(one.sent).isEqualTo(1_001);
    assertThat(outcome.failed()).isEqualTo(100);
    assertThat(outcome.acked()).isEqualTo(1_901);
    assertThat(outcome.firstFailure()).hasMessage("as planned");
    assertThat(outcome.perSecond()).isPositive();
  }

  @Test
  void noMoreIsInFlightThanAllowed() throws InterruptedException {
    // Another thread answers, one by one, slower than this one could send.
    Deque<Target.Done> waiting = new ConcurrentLinkedDeque<>();
    AtomicInteger most = new AtomicInteger();
    Target.Sender sender =
        new Target.Sender() {
          @Override
          public void send(byte[] key, byte[] payload, Target.Done done) {
            waiting.add(done);
            most.accumulateAndGet(waiting.size(), Math::max);
          }

          @Override
          public void close() {}
        };
    Thread answers =
        new Thread(
            () -> {
              while (!Thread.currentThread().isInterrupted()) {
                Target.Done done = waiting.peek();
                if (done == null) {
                  Thread.onSpinWait();
                } else {
                  waiting.remove(done);
                  done.done(null);
                }
              }
            });
    answers.setDaemon(true);
    answers.start();
    ProduceLoad load = new ProduceLoad(List.of(sender), new Payloads(10, 0, 1), 10);
    assertThat(load.run(Amount.messages(5_000)).acked()).isEqualTo(5_000);
    answers.interrupt();
    answers.join();
    assertThat(most.get()).isBetween(1, 10);
  }

  @Test
  void latencyCountsFromTheTimeAMessageWasMeantToBeSent() throws InterruptedException {
    LatencyLoad load = new LatencyLoad(new Payloads(100, 0, 1), 10_000);
    Target.Arrival arrival = load.arrival();
    // One message holds up the thread that sends: those behind it are late, and that must be seen.
    long heldUpNanos = 50_000_000;
    AtomicInteger sent = new AtomicInteger();
    Target.Sender sender =
        new Target.Sender() {
          @Override
          public void send(byte[] key, byte[] payload, Target.Done done) {
            assertThat(ByteBuffer.wrap(payload).getLong()).isLessThanOrEqualTo(System.nanoTime());
            if (sent.incrementAndGet() == 300) {
              long until = System.nanoTime() + heldUpNanos;
              while (System.nanoTime() < until) {
                Thread.onSpinWait();
              }
            }
            arrival.arrived(payload);
            done.done(null);
          }

          @Override
          public void close() {}
        };
    LatencyLoad.Outcome outcome = load.run(List.of(sender), 20, 100);
    assertThat(outcome.sent()).isEqualTo(1_000);
    assertThat(outcome.received()).isEqualTo(1_000);
    assertThat(outcome.failed()).isZero();
    assertThat(outcome.acknowledged().count()).isEqualTo(1_000);
    // 500 messages were due while it stood still; a load that forgave them would show one.
    assertThat(outcome.endToEnd().millis(70)).isGreaterThan(5.0);
    assertThat(outcome.endToEnd().millis(100)).isGreaterThan(49.0);
  }
}
