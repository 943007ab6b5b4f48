package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that share one node, which starts before the first and must stop in good order at the end.
 */
abstract class OneNode {
  @TempDir static Path directory;
  static Node node;

  @BeforeAll
  static void startNode() {
    node = new Node(directory.resolve("node")).start();
  }

  @AfterAll
  static void stopNode() {
    try (Node last = node) {
      assertThat(last.stop().status()).isZero();
    }
  }
}
