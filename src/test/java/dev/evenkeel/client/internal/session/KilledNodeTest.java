package dev.evenkeel.client.internal.session;

import static org.awaitility.Awaitility.await;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.TestPorts;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.ClientOptions;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A node is killed without a word, and started again; {@link RejoiningLinkTest} stops one often.
 */
class KilledNodeTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final int KILLS = 2;

  private Process node;
  private Link link;

  @AfterEach
  void close() throws Exception {
    if (link != null) {
      link.close()
          .toCompletionStage()
          .toCompletableFuture()
          .get(LONG.toSeconds(), TimeUnit.SECONDS);
    }
    if (node != null) {
      node.destroyForcibly().waitFor();
    }
  }

  @Test
  void theLinkNoticesAndComesBack() throws Exception {
    int port = TestPorts.take(4);
    node = EchoNode.start(port);
    link =
        Evenkeel.link(new ClientOptions().setSeeds(List.of("127.0.0.1:" + port)))
            .toCompletionStage()
            .toCompletableFuture()
            .get(LONG.toSeconds(), TimeUnit.SECONDS);
    await().atMost(LONG).until(this::answers);
    for (int kill = 1; kill <= KILLS; kill++) {
      long killed = System.nanoTime();
      node.destroyForcibly().waitFor();
      await()
          .atMost(LONG)
          .pollInterval(Duration.ofMillis(5))
          .until(() -> link.state() == Link.State.LOST);
      long noticed = System.nanoTime();
      node = EchoNode.start(port);
      long ready = System.nanoTime();
      await().atMost(LONG).pollInterval(Duration.ofMillis(5)).until(this::answers);
      System.out.printf(
          "kill %d: noticed after %d ms, node up in %d ms, link answers %d ms later%n",
          kill,
          millis(noticed - killed),
          millis(ready - noticed),
          millis(System.nanoTime() - ready));
    }
  }

  private static long millis(long nanos) {
    return nanos / 1_000_000;
  }

  private boolean answers() throws Exception {
    Future<Buffer> answer = link.request("echo", Buffer.buffer("x"), 500);
    try {
      answer.toCompletionStage().toCompletableFuture().get(LONG.toSeconds(), TimeUnit.SECONDS);
      return true;
    } catch (ExecutionException e) {
      return false;
    }
  }
}
