package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeThreadTest {
  private final NodeThread thread = new NodeThread("test");

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void closingAwaitsTheTaskThatIsUnderWay(boolean interrupted) throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    AtomicBoolean done = new AtomicBoolean();
    thread.execute(
        () -> {
          begun.countDown();
          try {
            go.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          done.set(true);
        });
    begun.await();
    CompletableFuture<Boolean> doneAtTheEnd =
        CompletableFuture.supplyAsync(
            () -> {
              if (interrupted) {
                Thread.currentThread().interrupt();
              }
              thread.close();
              return Thread.interrupted() == interrupted && done.get();
            });
    // Without waiting it would be over by the time that this one is noticed.
    doneAtTheEnd.copy().completeOnTimeout(false, 200, TimeUnit.MILLISECONDS).join();
    go.countDown();
    assertThat(doneAtTheEnd.join()).isTrue();
  }
}
