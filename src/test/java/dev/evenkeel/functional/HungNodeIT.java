package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each of three nodes hangs in turn: its process is stopped, and the kernel goes on to take
 * connections for it. The others count it as gone, stay together, and take it in again.
 */
@Tag("full")
class HungNodeIT {
  private static final List<String> IDS = List.of("n1", "n2", "n3");

  private static final String MESSAGES = "/api/topics/events/messages";

  @TempDir Path directory;

  @Test
  @Timeout(900)
  void theOthersStayTogetherWhicheverHangs() {
    try (Trio trio = new Trio(directory).start()) {
      trio.nodes.get(0).createTopic("events", 6);
      List<Jar.Running> producers =
          List.of(trio.produce("a", "events", 1_000), trio.produce("b", "events", 1_000));
      for (Node hung : trio.nodes) {
        String id = Trio.id(hung);
        hung.process().mayPause();
        Map<Node, Integer> told =
            trio.nodes.stream()
                .collect(Collectors.toMap(node -> node, node -> node.process().err().length()));
        Trio.signal(hung, "STOP");
        for (Node other : trio.others(hung)) {
          await(
              Trio.id(other) + " counts " + id + " as gone, and has the others",
              () -> assertThat(alive(other)).isEqualTo(aliveBut(id)));
        }
        for (Node other : trio.others(hung)) {
          await(
              Trio.id(other) + " takes messages, and knows how many there are",
              () -> {
                assertThat(other.post(MESSAGES, "{\"payload\":\"x\"}").statusCode()).isEqualTo(200);
                assertThat(json(other, "/api/topics/events").getLong("messages")).isPositive();
              });
        }
        Trio.signal(hung, "CONT");
        for (Node node : trio.nodes) {
          await(
              Trio.id(node) + " has all again",
              () -> assertThat(alive(node)).isEqualTo(aliveBut("nobody")));
        }
        trio.awaitCaughtUp(hung);
        for (Node other : trio.others(hung)) {
          assertThat(other.process().err().substring(told.get(other)))
              .as(Trio.id(other) + " fell apart from the third node when " + id + " hung")
              .doesNotContain("is merging");
        }
      }
      assertThat(producers).allMatch(producer -> producer.process.isAlive());
    }
  }

  /** By id, as the node answers: true, false if the cluster has no such member. */
  private static Map<String, Boolean> alive(Node node) {
    JsonArray nodes = json(node, "/api/cluster").getJsonArray("nodes");
    return nodes.stream()
        .map(JsonObject.class::cast)
        .collect(
            Collectors.toMap(
                each -> each.getString("node"), each -> each.getBoolean("alive", false)));
  }

  private static JsonObject json(Node node, String path) {
    return new JsonObject(node.get(path).body());
  }

  private static Map<String, Boolean> aliveBut(String gone) {
    return IDS.stream().collect(Collectors.toMap(id -> id, id -> !id.equals(gone)));
  }

  private static void await(String what, ThrowingRunnable assertion) {
    Awaitility.await(what)
        .ignoreExceptions()
        .atMost(Duration.ofSeconds(150))
        .untilAsserted(assertion);
  }
}
