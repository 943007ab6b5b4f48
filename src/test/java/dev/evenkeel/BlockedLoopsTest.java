package dev.evenkeel;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The alarm rings: a loop that is blocked on purpose is found. */
class BlockedLoopsTest {
  @Test
  void a_blocked_event_loop_is_noticed() throws InterruptedException {
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
          .atMost(Duration.ofSeconds(20))
          .until(() -> warnings.addAll(BlockedLoops.take()) || !warnings.isEmpty());
      assertThat(warnings.get(0)).contains("has been blocked for");
    } finally {
      free.countDown();
      vertx.close().toCompletionStage().toCompletableFuture().join();
      BlockedLoops.take();
    }
  }
}
