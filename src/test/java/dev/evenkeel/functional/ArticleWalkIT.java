package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Four shards and consumers that come and go: everybody has an even share at each step. */
@Tag("full")
class ArticleWalkIT {
  @TempDir Path directory;

  @Test
  void fourShardsAreSharedByOneTwoThreeAndThenTwoConsumers() {
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("walk", 4);
      Members members = new Members(node, "walkers");
      try (Jar.Running one = node.consume("one", "walk", "walkers")) {
        assertThat(members.awaitCounts(Map.of("one", 4)).keySet()).containsExactly(0, 1, 2, 3);
        try (Jar.Running two = node.consume("two", "walk", "walkers")) {
          members.awaitCounts(Map.of("one", 2, "two", 2));
          try (Jar.Running three = node.consume("three", "walk", "walkers")) {
            members.await(
                "1, 1 and 2",
                owners ->
                    owners.size() == 4
                        && Members.counts(owners).keySet().equals(Set.of("one", "two", "three")));
            assertThat(one.stop().status()).isZero();
            members.awaitCounts(Map.of("two", 2, "three", 2));
            assertThat(three.stop().status()).isZero();
          }
          members.awaitCounts(Map.of("two", 4));
          assertThat(two.stop().status()).isZero();
        }
      }
    }
  }
}
