package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What moved, and what it cost, is known after the dispatcher died, and after everything did. */
@Tag("full")
class RebalanceHistoryIT {
  private static final int SHARDS = 6;

  @TempDir Path directory;

  private static ConditionFactory eventually(String what) {
    return Awaitility.await(what)
        .atMost(Duration.ofSeconds(180))
        .pollInterval(Duration.ofMillis(100))
        .ignoreExceptions();
  }

  /** Moves of the group as a node tells them, by shard and epoch, newest first. */
  private static Map<String, JsonObject> moves(Node node) {
    Map<String, JsonObject> moves = new LinkedHashMap<>();
    for (Object each : new JsonArray(node.get("/api/rebalances?group=g").body())) {
      JsonObject move = (JsonObject) each;
      moves.put(move.getInteger("shard") + "@" + move.getLong("epoch"), move);
    }
    return moves;
  }

  private static long metaIndex(Node node) {
    for (Object each : new JsonObject(node.get("/api/cluster").body()).getJsonArray("logs")) {
      JsonObject log = (JsonObject) each;
      if (log.getString("group").equals("meta")) {
        return log.getLong("commitIndex");
      }
    }
    throw new AssertionError("no meta log");
  }

  private static void assertSharedEvenly(Node node, String first, String second) {
    Map<String, Integer> counts = new LinkedHashMap<>();
    for (JsonObject shard : node.shards("g")) {
      counts.merge(String.valueOf(shard.getString("owner")), 1, Integer::sum);
    }
    assertThat(counts).isEqualTo(Map.of(first, SHARDS / 2, second, SHARDS / 2));
  }

  /** Every move but a shard's first one has its pause. */
  private static void assertFiguresKnown(Map<String, JsonObject> moves) {
    assertThat(moves).hasSize(SHARDS + SHARDS / 2);
    for (JsonObject move : moves.values()) {
      assertThat(move.getBoolean("capped")).isFalse();
      assertThat(move.getLong("redelivered")).as("%s", move).isZero();
      if (move.getString("from") != null) {
        assertThat(move.getLong("pauseMs")).as("%s", move).isNotNull();
        assertThat(move.getLong("releaseMs")).as("%s", move).isNotNull();
        assertThat(move.getString("reason")).isEqualTo("member joined");
      }
    }
  }

  private static void assertKnows(Node node, Map<String, JsonObject> moves) {
    eventually("the moves at " + Trio.id(node))
        .untilAsserted(() -> assertThat(moves(node)).containsAllEntriesOf(moves));
  }

  @Test
  @Timeout(900)
  void movesSurviveTheDispatcherAndARestartOfEverything() {
    try (Trio trio = new Trio(directory).start()) {
      Node any = trio.node(1);
      any.createTopic("orders", SHARDS);
      trio.consume("one", "orders", "g");
      eventually("one has all shards")
          .until(
              () ->
                  any.shards("g").size() == SHARDS
                      && any.shards("g").stream()
                          .allMatch(shard -> "one".equals(shard.getString("owner"))));
      trio.consume("two", "orders", "g");
      eventually("two has half of them").untilAsserted(() -> assertSharedEvenly(any, "one", "two"));
      eventually("all figures").untilAsserted(() -> assertFiguresKnown(moves(any)));
      long[] index = {-1};
      eventually("nothing more is recorded")
          .during(Duration.ofSeconds(2))
          .until(
              () -> {
                long before = index[0];
                index[0] = metaIndex(any);
                return before == index[0];
              });
      Map<String, JsonObject> moves = moves(any);

      Node dead = trio.dispatcher(any);
      dead.kill();
      trio.others(dead).forEach(node -> assertKnows(node, moves));
      Node heir = trio.dispatcher(trio.others(dead).get(0));
      assertThat(heir).isNotSameAs(dead);
      JsonArray listed =
          new JsonArray(
              heir.admin("group", "rebalances", "g", "--limit", "2", "--format", "json").out());
      assertThat(listed).hasSize(2);
      assertThat(heir.admin("group", "rebalances", "g").out())
          .startsWith("TIME ")
          .contains("CAP HIT")
          .contains("member joined");

      // One node comes back, and hears it from the log.
      dead.begin();
      dead.awaitReady();
      assertKnows(dead, moves);

      trio.nodes.forEach(Node::kill);
      trio.nodes.forEach(Node::begin);
      trio.nodes.forEach(Node::awaitReady);
      trio.nodes.forEach(node -> assertKnows(node, moves));
    }
  }
}
