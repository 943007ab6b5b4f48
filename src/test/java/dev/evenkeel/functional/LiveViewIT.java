package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whoever watches sees the cluster as it is, move by move. */
@Tag("full")
class LiveViewIT {
  private static final int SHARDS = 4;

  @TempDir Path directory;

  @Test
  void watchersSeeMembersComeAndDieAndShardsMoveWithRealFigures() {
    Path input = Lines.write(directory.resolve("input.log"), 4_000, 50);
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("orders", SHARDS);
      assertThat(
              node.produce("p", input, "orders", "--key-regex", Lines.KEY_REGEX).await().status())
          .isZero();
      try (LiveWatcher watcher = new LiveWatcher(node);
          Jar.Running first = slowly(node, "first")) {
        assertSnapshot(watcher.first());
        assertCluster(new JsonObject(node.get("/api/cluster").body()));
        watcher.await("first owns all", state -> owned(state, "first") == SHARDS);
        try (Jar.Running second = slowly(node, "second")) {
          watcher.await("a shard drains", LiveViewIT::someDrainsToSecond);
          watcher.await("second owns half", state -> owned(state, "second") == SHARDS / 2);
          JsonObject joined = awaitMoves(watcher, "first", "second");
          assertThat(joined.getString("reason")).isEqualTo("member joined");
          assertThat(joined.getLong("redelivered")).isZero();
          awaitBegun(node, second);
          second.kill();
        }
        JsonObject crashed = awaitMoves(watcher, "second", "first");
        assertThat(crashed.getString("reason")).isIn("member crashed", "member timed out");
        assertThat(crashed.getLong("redelivered")).isPositive();
        watcher.await("first owns all again", state -> owned(state, "first") == SHARDS);
        assertSameFigures(node, watcher);
        assertSameAsFreshSnapshot(node, watcher);
        assertNumbersAndPace(watcher.frames);
        assertThat(first.stop().status()).isZero();
        watcher.await("nobody owns any", state -> owned(state, "first") == 0);
        assertThat(node.stop().status()).isZero();
        Awaitility.await().until(() -> watcher.closeCode == 1001);
      }
    }
  }

  /** So slowly that a drain can be seen, and that much is begun and not committed. */
  private static Jar.Running slowly(Node node, String member) {
    return node.consume(member, "orders", "g", "--exec", "echo done >> " + member + "; sleep 0.4");
  }

  private static void assertSnapshot(JsonObject frame) {
    assertThat(frame.getString("type")).isEqualTo("snapshot");
    assertThat(frame.getLong("seq")).isEqualTo(1);
    assertThat(frame.getLong("intervalMs")).isPositive();
    JsonObject topic = frame.getJsonObject("topics").getJsonObject("orders");
    assertThat(topic.getInteger("shards")).isEqualTo(SHARDS);
    assertThat(topic.getLong("end")).isEqualTo(4_000);
    String self = frame.getJsonObject("server").getString("node");
    JsonObject cluster = frame.getJsonObject("cluster");
    assertThat(cluster.getString("dispatcher")).isEqualTo(self);
    assertThat(cluster.getJsonObject("nodes").getJsonObject(self).getBoolean("alive")).isTrue();
    JsonObject meta = cluster.getJsonObject("logs").getJsonObject("meta");
    assertThat(meta.getString("leader")).isEqualTo(self);
    assertThat(meta.getLong("commitIndex")).isPositive();
  }

  private static void assertCluster(JsonObject status) {
    assertThat(status.getString("cluster")).isNotBlank();
    assertThat(status.getString("dispatcher")).isEqualTo(status.getString("node"));
    assertThat(status.getJsonArray("nodes")).hasSize(1);
    assertThat(status.getJsonArray("nodes").getJsonObject(0).getBoolean("alive")).isTrue();
    assertThat(status.getJsonArray("nodes").getJsonObject(0).getString("host")).isNotBlank();
    assertThat(status.getJsonArray("logs").size()).isGreaterThan(1);
    for (Object each : status.getJsonArray("logs")) {
      JsonObject log = (JsonObject) each;
      assertThat(log.getString("leader")).isEqualTo(status.getString("node"));
      assertThat(log.getLong("appliedIndex")).isNotNegative();
      assertThat(log.getJsonArray("followers")).isEmpty();
    }
  }

  private static List<JsonObject> shards(JsonObject state) {
    List<JsonObject> shards = new ArrayList<>();
    JsonObject group = state.getJsonObject("groups").getJsonObject("g");
    if (group != null) {
      group.getJsonObject("shards").forEach(each -> shards.add((JsonObject) each.getValue()));
    }
    return shards;
  }

  private static long owned(JsonObject state, String member) {
    return shards(state).stream()
        .filter(shard -> member.equals(shard.getString("owner")))
        .filter(shard -> "OWNED".equals(shard.getString("state")))
        .count();
  }

  private static boolean someDrainsToSecond(JsonObject state) {
    return shards(state).stream()
        .anyMatch(
            shard ->
                "DRAINING".equals(shard.getString("state"))
                    && "first".equals(shard.getString("owner"))
                    && "second".equals(shard.getString("nextOwner"))
                    && shard.getLong("drainDeadline") > 0);
  }

  /** Waits until every move between the two has its figures, and gives the last of them. */
  private static JsonObject awaitMoves(LiveWatcher watcher, String from, String to) {
    JsonObject state =
        watcher.await(
            "moves from " + from + " to " + to,
            shown -> {
              List<JsonObject> moves = moves(shown, from, to);
              return moves.size() == SHARDS / 2
                  && moves.stream()
                      .noneMatch(
                          move ->
                              move.getLong("pauseMs") == null
                                  || move.getLong("redelivered") == null);
            });
    List<JsonObject> moves = moves(state, from, to);
    for (JsonObject move : moves) {
      assertThat(move.getLong("pauseMs")).isBetween(0L, 30_000L);
      assertThat(move.getString("group")).isEqualTo("g");
      assertThat(move.getString("topic")).isEqualTo("orders");
    }
    return moves.get(moves.size() - 1);
  }

  private static List<JsonObject> moves(JsonObject state, String from, String to) {
    List<JsonObject> moves = new ArrayList<>();
    state
        .getJsonObject("moves")
        .forEach(
            each -> {
              JsonObject move = (JsonObject) each.getValue();
              if (from.equals(move.getString("from")) && to.equals(move.getString("to"))) {
                moves.add(move);
              }
            });
    return moves;
  }

  /** The second member works, and the dispatcher has heard of it. */
  private static void awaitBegun(Node node, Jar.Running second) {
    Wait.until(
        "the second has begun and told of it",
        () -> {
          assertThat(second.process.isAlive()).as(second.err()).isTrue();
          var members = new JsonObject(node.get("/api/groups/g").body()).getJsonArray("members");
          return members.stream()
              .map(JsonObject.class::cast)
              .anyMatch(
                  member ->
                      member.getString("member").equals("second")
                          && Objects.requireNonNullElse(member.getLong("consumed"), 0L) > 0);
        });
  }

  /** What HTTP tells of a move is what the live view shows. */
  private static void assertSameFigures(Node node, LiveWatcher watcher) {
    JsonArray told = new JsonArray(node.get("/api/rebalances?group=g").body());
    List<JsonObject> states = watcher.states();
    JsonObject shown = states.get(states.size() - 1).getJsonObject("moves");
    assertThat(told).hasSize(shown.size());
    for (Object each : told) {
      JsonObject move = (JsonObject) each;
      move.fieldNames().stream()
          .filter(field -> move.getValue(field) == null)
          .toList()
          .forEach(move::remove);
      assertThat(shown.fieldNames().stream().map(shown::getJsonObject)).contains(move);
    }
  }

  private static void assertSameAsFreshSnapshot(Node node, LiveWatcher watcher) {
    try (LiveWatcher other = new LiveWatcher(node)) {
      JsonObject snapshot = other.first();
      Instant time = LiveWatcher.time(snapshot);
      Wait.until(() -> watcher.frames.stream().anyMatch(f -> LiveWatcher.time(f).isAfter(time)));
      assertThat(new JsonObject(watcher.stateAt(time)))
          .isEqualTo(new JsonObject(LiveWatcher.stateOf(snapshot)));
    }
  }

  private static void assertNumbersAndPace(List<JsonObject> frames) {
    for (int i = 0; i < frames.size(); i++) {
      assertThat(frames.get(i).getLong("seq")).isEqualTo(i + 1);
      assertThat(frames.get(i).getString("type")).isEqualTo(i == 0 ? "snapshot" : "change");
      Instant end = LiveWatcher.time(frames.get(i)).plusSeconds(1);
      long within =
          frames.stream()
              .skip(i)
              .filter(f -> f.getString("type").equals("change"))
              .filter(f -> !LiveWatcher.time(f).isAfter(end))
              .count();
      assertThat(within).isLessThanOrEqualTo(10);
    }
  }
}
