package dev.evenkeel;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The alarm rings: a loop that is blocked on purpose is found. */
class BlockedLoopsTest {
  @Test
  void aBlockedEventLoopIsNoticed() throws InterruptedException {
    Set<Thread> others = checkers();
    Vertx vertx =
        Vertx.vertx(
            new VertxOptions()
                .setEventLoopPoolSize(1)
                .setBlockedThreadCheckInterval(5)
                .setMaxEventLoopExecuteTime(1)
                .setMaxEventLoopExecuteTimeUnit(TimeUnit.MILLISECONDS));
    CountDownLatch free = new CountDownLatch(1);
    List<String> warnings = new ArrayList<>();
    try {
      vertx.runOnContext(
          now -> {
            try {
              free.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          });
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> warnings.addAll(BlockedLoops.take()) || !warnings.isEmpty());
      assertThat(warnings.get(0)).contains("has been blocked for");
      assertThat(BlockedLoops.forLong(warnings.get(0).replaceAll("for \\d+ ms", "for 5001 ms")))
          .isTrue();
      assertThat(BlockedLoops.forLong(warnings.get(0).replaceAll("for \\d+ ms", "for 5000 ms")))
          .isFalse();
    } finally {
      free.countDown();
      vertx.close().toCompletionStage().toCompletableFuture().join();
      // What it is about to say must not be said after this test, whose class would fail for it.
      for (Thread checker : checkers()) {
        if (!others.contains(checker)) {
          checker.join();
        }
      }
      BlockedLoops.take();
    }
  }

  private static Set<Thread> checkers() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("vertx-blocked-thread-checker"))
        .collect(Collectors.toSet());
  }
}
