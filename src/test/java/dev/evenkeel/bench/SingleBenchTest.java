package dev.evenkeel.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Fails;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SingleBenchTest {
  private final AtomicInteger first = new AtomicInteger();
  private final AtomicInteger second = new AtomicInteger();

  @Test
  void messagesGoThroughEachInTurnAndNeverTwoAtOnce() throws InterruptedException {
    List<Percentiles> latencies = List.of(new Percentiles(), new Percentiles());
    SingleBench.run(
        new Payloads(10, 0, 1),
        1_000,
        List.of(
            new FakeSender(
                (key, payload, done) -> {
                  assertThat(first.get()).isEqualTo(second.get());
                  first.incrementAndGet();
                  done.done(null);
                }),
            new FakeSender(
                (key, payload, done) -> {
                  assertThat(second.get()).isEqualTo(first.get() - 1);
                  second.incrementAndGet();
                  done.done(null);
                })),
        latencies,
        50);
    assertThat(latencies).allSatisfy(each -> assertThat(each.count()).isEqualTo(50));
  }

  @Test
  void aFailureEndsIt() {
    FakeSender failing =
        new FakeSender((key, payload, done) -> done.done(new IllegalStateException("refused")));
    Fails.saying(
        () ->
            SingleBench.run(
                new Payloads(10, 0, 1), 1_000, List.of(failing), List.of(new Percentiles()), 50),
        "refused");
  }

  private interface Sending {
    void send(byte[] key, byte[] payload, Target.Done done);
  }

  private record FakeSender(Sending sending) implements Target.Sender {
    @Override
    public void send(byte[] key, byte[] payload, Target.Done done) {
      sending.send(key, payload, done);
    }

    @Override
    public void close() {}
  }
}
