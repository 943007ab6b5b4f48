package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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
  private static final List<String> OLDER =
      List.of("-Devenkeel.feature.level.max=" + FeatureLevel.OLDEST);

  private static final String RAISED = "the cluster is at feature level ";

  @TempDir Path directory;

  @Test
  @Timeout(300)
  void aNodeOfAnOlderBuildHoldsTheLevelAndStopsAtAnEntryAboveItsOwn() throws IOException {
    try (Trio trio = new Trio(directory)) {
      Node older = trio.node(3).inJvm(OLDER);
      trio.start();
      Node node = trio.node(1);
      node.createTopic("events", 3);
      Wait.until("the nodes read what the oldest does", () -> level(node) == FeatureLevel.OLDEST);
      node.send("events", List.of("a", "b"));
      Jar.Result consumed =
          Jar.run(
              directory,
              words(
                  "consume events --group g --from earliest --max 2 --cluster %s", trio.cluster()));
      assertThat(consumed.status()).as(consumed.err()).isZero();

      // All that the oldest level has works, and the log takes nothing above it.
      assertThat(node.delete("/api/groups/g").statusCode()).isEqualTo(200);
      Wait.until(
          "every state has a digest from the same entry on", () -> digestsBeginTogether(node));
      Jar.Result refused = setQuota(node);
      assertThat(refused.status()).as(refused.err()).isEqualTo(1);
      assertThat(refused.err()).contains("needs feature level " + FeatureLevel.QUOTAS);
      assertThat(claim(node).statusCode()).isEqualTo(503);
      assertThat(claim(node).body()).contains("older version, without dedups by name");
      assertThat(node.read("/api/quotas")).isEqualToIgnoringNewLines("[]");
      assertThat(trio.nodes.stream().flatMap(each -> each.process().err().lines()))
          .filteredOn(line -> line.contains(RAISED))
          .isNotEmpty()
          .allMatch(line -> line.contains(RAISED + FeatureLevel.OLDEST + ":"));

      // The upgrade of the last node.
      assertThat(older.stop().status()).isZero();
      older.inJvm(List.of("-Xmx256m")).start();
      Wait.until("every node reads the newest level", () -> level(node) == FeatureLevel.NEWEST);
      trio.awaitCaughtUp(older);
      Wait.until(
          "every state has a digest from the same entry on", () -> digestsBeginTogether(node));
      Jar.Result taken = setQuota(node);
      assertThat(taken.status()).as(taken.err()).isZero();
      assertThat(claim(node).statusCode()).isEqualTo(201);

      // Back to the older build: it says what is wrong, and ends.
      assertThat(older.stop().status()).isZero();
      Jar.Result ended = older.inJvm(OLDER).begin().await();
      assertThat(ended.status()).isEqualTo(1);
      assertThat(ended.err())
          .contains(
              "log group meta",
              "needs feature level " + FeatureLevel.NEWEST,
              "reads up to level " + FeatureLevel.OLDEST)
          .contains("start it with the version that the other nodes run");
      assertThat(node.get("/api/topics/events").statusCode()).isEqualTo(200);

      older.inJvm(List.of("-Xmx256m")).start();
    }
  }

  private static Jar.Result setQuota(Node node) {
    return node.tryAdmin("quota", "set", "topic", "events", "--messages", "1000");
  }

  /** An older node would free the key while the program relies on it. */
  private static HttpResponse<String> claim(Node node) {
    return node.post("/api/dedup/pages/claims", "{\"key\":\"k\"}");
  }

  private static boolean digestsBeginTogether(Node node) {
    Map<String, List<Long>> digests = digests(node);
    return !digests.isEmpty()
        && digests.values().stream()
            .allMatch(since -> since.size() == 3 && since.stream().distinct().count() == 1);
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
