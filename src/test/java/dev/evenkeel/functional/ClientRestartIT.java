package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A consumer works again after each restart of the only node. Prints how long it took from the
 * node's ready line to the first message; {@code -Pfull} makes it ten restarts.
 */
@Tag("full")
class ClientRestartIT {
  private static final int RESTARTS = Integer.getInteger("evenkeel.restarts", 3);

  @TempDir Path directory;

  @Test
  @Timeout(600)
  void aConsumerPullsAgainAfterEachRestart() throws IOException {
    Path line = Files.writeString(directory.resolve("line"), "hello\n");
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("t", 2);
      try (Jar.Running consumer = node.consume("c", "t", "g", "--format", "json")) {
        List<Long> millis = new ArrayList<>();
        for (int restart = 1; restart <= RESTARTS; restart++) {
          // The message is there before the restart, so that only the consumer is waited for.
          if (restart % 2 == 0) {
            node.kill();
          } else {
            assertThat(node.stop().status()).isZero();
          }
          node.start();
          long ready = System.nanoTime();
          assertThat(
                  node.post("/api/topics/t/messages", "{\"payload\":\"m" + restart + "\"}")
                      .statusCode())
              .isEqualTo(200);
          String expected = "\"payload\":\"m" + restart + "\"";
          Awaitility.await("message after restart " + restart)
              .atMost(Duration.ofSeconds(60))
              .pollInterval(Duration.ofMillis(10))
              .until(() -> consumer.out().contains(expected));
          millis.add((System.nanoTime() - ready) / 1_000_000);
        }
        Collections.sort(millis);
        System.err.println(
            "ClientRestartIT: first message after the ready line, ms, sorted: " + millis);
        assertThat(consumer.stop().status()).isZero();
        // One that was away for longer than its time-out may get the last ones again.
        DeliveryCheck check = new DeliveryCheck(List.of(consumer.out().lines().toList()));
        assertThat(check.distinct()).isEqualTo(RESTARTS);
      }
      assertThat(node.produce("p", line, "t").await().status()).isZero();
    }
  }
}
