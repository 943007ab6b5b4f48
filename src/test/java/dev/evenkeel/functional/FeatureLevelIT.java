package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Nodes of two builds in one cluster: nothing is written that the older one cannot read, and after
 * the last node is of the newer build, the older one does not come back.
 */
@Tag("full")
class FeatureLevelIT {
  private static final List<String> OLDER = List.of("-Devenkeel.feature.level.max=1");

  @TempDir Path directory;

  @Test
  @Timeout(300)
  void aNodeOfAnOlderBuildHoldsTheLevelAndStopsAtAnEntryAboveItsOwn() {
    try (Trio trio = new Trio(directory)) {
      Node older = trio.node(3).inJvm(OLDER);
      trio.start();
      Node node = trio.node(1);
      node.createTopic("events", 3);
      assertThat(level(node)).isEqualTo(1);
      node.send("events", List.of("a", "b"));
      Jar.Result consumed =
          Jar.run(
              directory,
              "consume",
              "events",
              "--group",
              "g",
              "--from",
              "earliest",
              "--max",
              "2",
              "--cluster",
              trio.cluster());
      assertThat(consumed.status()).as(consumed.err()).isZero();

      // What cannot be finished at this level is not begun.
      HttpResponse<String> refused = node.delete("/api/groups/g");
      assertThat(refused.statusCode()).as(refused.body()).isEqualTo(503);
      assertThat(refused.body()).contains("needs feature level 3", "the cluster is at level 1");
      assertThat(node.read("/api/groups/g")).contains("events");
      assertThat(digests(node)).isEmpty();
      assertThat(trio.nodes.stream().map(Node::process))
          .noneMatch(process -> process.err().contains("the cluster is at feature level"));

      // The upgrade of the last node.
      assertThat(older.stop().status()).isZero();
      older.inJvm(List.of("-Xmx256m")).start();
      Awaitility.await("every node reads the newest level")
          .atMost(Duration.ofSeconds(60))
          .until(() -> level(node) == FeatureLevel.NEWEST);
      trio.awaitCaughtUp(older);
      Awaitility.await("every state has a digest from the same entry on")
          .atMost(Duration.ofSeconds(60))
          .until(
              () ->
                  digests(node).values().stream()
                      .allMatch(beginnings -> beginnings.size() == 3 && same(beginnings)));
      assertThat(node.delete("/api/groups/g").statusCode()).isEqualTo(200);

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

  private static boolean same(List<Long> numbers) {
    return numbers.stream().distinct().count() == 1;
  }

  /** By log group, where the digests of the nodes' states begin. */
  private static Map<String, List<Long>> digests(Node node) {
    Map<String, List<Long>> beginnings = new TreeMap<>();
    for (Object log : new JsonObject(node.read("/api/cluster")).getJsonArray("logs")) {
      JsonObject group = (JsonObject) log;
      for (Object digest : group.getJsonArray("digests")) {
        beginnings
            .computeIfAbsent(group.getString("group"), any -> new ArrayList<>())
            .add(((JsonObject) digest).getLong("since"));
      }
    }
    return beginnings;
  }

  private static int level(Node node) {
    return new JsonObject(node.read("/api/cluster")).getInteger("featureLevel", 0);
  }
}
