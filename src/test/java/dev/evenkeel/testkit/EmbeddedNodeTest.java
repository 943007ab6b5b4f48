package dev.evenkeel.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.functional.LiveObjects;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** A node in the JVM of a test. */
class EmbeddedNodeTest {
  /** Each holds all the rest of a node. */
  private static final List<String> WHOLE =
      List.of("io.vertx.core.impl.VertxImpl", "com.hazelcast.instance.impl.HazelcastInstanceImpl");

  @Test
  void aRestartLeavesNothingOfTheFormerNodeInTheMemory() {
    try (EmbeddedNode node = EmbeddedNode.start()) {
      List<Long> before = counts();
      for (int i = 0; i < 3; i++) {
        node.restart();
      }
      Awaitility.await("former nodes are collected")
          .untilAsserted(() -> assertThat(counts()).isEqualTo(before));
    }
  }

  private static List<Long> counts() {
    Map<String, Long> all = LiveObjects.now().counts();
    return WHOLE.stream().map(name -> all.getOrDefault(name, 0L)).toList();
  }
}
