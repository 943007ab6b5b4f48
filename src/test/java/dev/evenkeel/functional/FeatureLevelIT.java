package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.wire.FeatureLevel;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Nodes of two builds in one cluster: nothing is written that the older one cannot read, and after
 * the last node is of the newer build, the older one does not come back.
 */
class FeatureLevelIT {
  private static final List<String> OLDER = List.of("-Devenkeel.feature.level.max=1");

  @TempDir Path directory;

  @Test
  @Timeout(300)
  void a_node_of_an_older_build_holds_the_level_and_stops_at_an_entry_above_its_own() {
    try (Trio trio = new Trio(directory)) {
      Node older = trio.node(3).inJvm(OLDER);
      trio.start();
      Node node = trio.node(1);
      node.createTopic("events", 3);
      assertThat(level(node)).isEqualTo(1);
      assertThat(trio.nodes.stream().map(Node::process))
          .noneMatch(process -> process.err().contains("the cluster is at feature level"));

      // The upgrade of the last node.
      assertThat(older.stop().status()).isZero();
      older.inJvm(List.of("-Xmx256m")).start();
      Awaitility.await("every node reads the newest level")
          .atMost(Duration.ofSeconds(60))
          .until(() -> level(node) == FeatureLevel.NEWEST);
      trio.awaitCaughtUp(older);

      // Back to the older build: it says what is wrong, and ends.
      assertThat(older.stop().status()).isZero();
      Jar.Result ended = older.inJvm(OLDER).begin().await();
      assertThat(ended.status()).isEqualTo(1);
      assertThat(ended.err())
          .contains(
              "log group meta", "needs feature level " + FeatureLevel.NEWEST, "reads up to level 1")
          .contains("start it with the version that the other nodes run");
      assertThat(node.get("/api/topics/events").statusCode()).isEqualTo(200);

      older.inJvm(List.of("-Xmx256m")).start();
    }
  }

  private static int level(Node node) {
    return new JsonObject(node.read("/api/cluster")).getInteger("featureLevel", 0);
  }
}
