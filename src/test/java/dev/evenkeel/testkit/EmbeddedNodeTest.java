package dev.evenkeel.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import java.lang.ref.WeakReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** A node in the JVM of a test. */
class EmbeddedNodeTest {
  @Test
  void aRestartLeavesNothingOfTheFormerNodeInTheMemory() {
    try (EmbeddedNode node = EmbeddedNode.start()) {
      // It holds all the rest.
      WeakReference<Vertx> former = new WeakReference<>(node.vertx());
      node.restart();
      Awaitility.await("the former node is collected")
          .untilAsserted(
              () -> {
                System.gc();
                assertThat(former.get()).isNull();
              });
    }
  }
}
