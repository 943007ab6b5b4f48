package dev.evenkeel;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
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
                .setMaxEventLoopExecuteTimeUnit(TimeUnit.MILLISECONDS)
                .setWarningExceptionTime(1));
    CountDownLatch free = new CountDownLatch(1);
    List<BlockedLoops.Warning> warnings = new ArrayList<>();
    try {
      vertx.runOnContext(
          now -> {
            try {
              free.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          });
      Wait.until(() -> warnings.addAll(BlockedLoops.take()) || !warnings.isEmpty());
      String text = warnings.get(0).text();
      assertThat(text).contains("has been blocked for");
      assertThat(warnings.get(0).stack()).as("where").anyMatch(frame -> frame.contains("await"));
      List<String> waits = warnings.get(0).stack();
      List<String> works = List.of("java.base/java.util.HashMap.get(HashMap.java:1)");
      assertThat(blocked(text, 5_001, waits, 20).forLong()).isTrue();
      assertThat(blocked(text, 5_000, waits, 20).forLong()).isFalse();
      assertThat(blocked(text, 5_001, works, 0.5).forLong()).isTrue();
      assertThat(blocked(text, 50_000, works, 10).forLong()).as("a busy machine").isFalse();
      assertThat(blocked(text, 50_001, works, 10).forLong()).isTrue();
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

  private static BlockedLoops.Warning blocked(
      String text, long millis, List<String> stack, double load) {
    return new BlockedLoops.Warning(
        text.replaceAll("for \\d+ ms", "for " + millis + " ms"), stack, load);
  }

  private static Set<Thread> checkers() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("vertx-blocked-thread-checker"))
        .collect(Collectors.toSet());
  }
}
