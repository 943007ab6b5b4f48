package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import dev.evenkeel.bus.ClusterView;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three nodes as one: every node answers for all, and another dispatches when one is gone. A pause
 * of a group outlasts that. What the nodes send each other is encrypted.
 */
class ThreeNodesIT {
  private static final int MESSAGES = 3_000;

  @TempDir Path directory;

  @Test
  @Timeout(600)
  void everyNodeAnswersForAllAndTheDispatcherMovesWithTheMetaLog() {
    try (Trio trio = new Trio(directory).withCertificates().start()) {
      trio.nodes.get(0).createTopic("orders", 6);
      trio.nodes.get(0).createTopic("ticks", 3);
      Jar.Running one = trio.consume("one", "orders", "g");
      Jar.Running two = trio.consume("two", "orders", "g");
      List<Jar.Running> level =
          trio.nodes.stream().map(home -> levelMember(home, "at-" + Trio.id(home))).toList();
      Path lines = Lines.write(directory.resolve("lines"), MESSAGES, 100);
      TopicMessages.send(trio.nodes.get(1), "orders", lines, Lines.KEY_REGEX);
      // Each node takes messages for every shard, whoever leads it.
      for (Node node : trio.nodes) {
        assertThat(node.post("/api/topics/orders/messages", "{\"payload\":\"x 0\"}").statusCode())
            .isEqualTo(200);
      }
      for (Node node : trio.nodes) {
        node.awaitConsumed("g", MESSAGES + 3);
        TopicMessages.assertCount(node, "orders", MESSAGES + 3);
        // Messages can be read through any node.
        assertThat(TopicMessages.read(node, "orders", 6)).hasSize(MESSAGES + 3);
      }
      awaitLevel(trio.nodes.get(0), level.size());
      trio.nodes.forEach(trio::awaitCaughtUp);
      Wait.until(
          "the nodes know that all of them know pauses",
          () -> trio.nodes.get(0).post("/api/groups/g/pause", "{}").statusCode() == 200);
      try (AckWatch watch = new AckWatch(trio, "ticks")) {
        ClusterView before = watch.view();
        Map<String, String> owners = owners(trio.nodes.get(0));
        Node dispatcher = trio.node(before.metaLeader());
        dispatcher.kill();
        Wait.until(
            "others lead what it led", 150, () -> leadsNothing(before.metaLeader(), watch.view()));
        for (Node node : trio.others(dispatcher)) {
          Wait.untilAsserted(
              "the new dispatcher knows the group",
              () -> assertThat(owners(node)).isEqualTo(owners));
          assertThat(node.post("/api/topics/orders/messages", "{\"payload\":\"x 1\"}").statusCode())
              .isEqualTo(200);
        }
        Node other = trio.others(dispatcher).get(0);
        assertThat(new JsonObject(other.get("/api/groups/g").body()).getBoolean("paused")).isTrue();
        assertThat(other.shards("g").stream().mapToLong(shard -> shard.getLong("lag")).sum())
            .as("the group stays paused, whoever leads")
            .isEqualTo(2);
        assertThat(other.post("/api/groups/g/resume", "{}").statusCode()).isEqualTo(200);
        trio.others(dispatcher).forEach(node -> node.awaitConsumed("g", MESSAGES + 5));
        awaitLevel(other, level.size());
        watch.finish();
        assertThat(watch.failures()).isZero();
      }
      List.of(one, two).forEach(consumer -> assertThat(consumer.stop().status()).isZero());
      level.forEach(member -> assertThat(member.stop().status()).isZero());
    }
  }

  /** One that listens at this node, which need not be the dispatcher's. */
  private Jar.Running levelMember(Node home, String name) {
    return Jar.startInCrowd(
        directory,
        name,
        List.of(
                List.of("consume", "ticks", "--group", "even", "--mode", "level"),
                List.of("--member", name, "--format", "json", "--cluster", home.cluster()))
            .stream()
            .flatMap(List::stream)
            .toArray(String[]::new));
  }

  private static void awaitLevel(Node asked, int members) {
    Wait.untilAsserted(
        "every member of the level group takes part",
        () ->
            assertThat(
                    new JsonObject(asked.get("/api/groups/even").body())
                        .getJsonObject("level")
                        .getJsonArray("bars"))
                .hasSize(members));
  }

  private static boolean leadsNothing(String node, ClusterView view) {
    return view.metaLeader() != null
        && !view.metaLeader().equals(node)
        && !view.dataLeaders().contains(node);
  }

  private static Map<String, String> owners(Node node) {
    Map<String, String> owners = new HashMap<>();
    for (JsonObject shard : node.shards("g")) {
      owners.put(
          shard.getString("topic") + "/" + shard.getInteger("shard"), shard.getString("owner"));
    }
    return owners;
  }
}
