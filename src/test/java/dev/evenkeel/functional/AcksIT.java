package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What each kind of acknowledgement waits for, over three processes, and that nothing acknowledged
 * is lost when all of them are killed at once.
 */
class AcksIT {
  private static final int LINES = 20_000;

  @TempDir Path directory;

  @Test
  @Timeout(900)
  void each_acknowledgement_keeps_its_promise() {
    try (Trio trio = new Trio(directory).start()) {
      trio.nodes.get(0).admin("topic", "create", "events", "--shards", "1");
      Node leader = leader(trio);
      List<Node> followers = trio.others(leader);
      Node held = followers.get(0);
      // To a node that is neither held up nor, by its leading, in the way of what is tested.
      Node asked = followers.get(1);
      posted(asked, "all", "a 0", 200);
      Path bulk = Lines.write(directory.resolve("bulk"), LINES, 50);
      assertAcked(produce(trio, "bulk-all", bulk, "--acks", "all"), LINES);

      held.process().mayPause();
      Trio.signal(held, "STOP");
      posted(asked, "majority", "majority 0", 200);
      JsonObject lacking = posted(asked, "all", "all 0", 202);
      assertThat(lacking.getJsonArray("missing")).isEqualTo(new JsonArray().add(Trio.id(held)));
      assertThat(lacking.getLong("offset")).isPositive();
      JsonObject none = posted(asked, "none", "none 0", 202);
      assertThat(none.containsKey("offset")).isTrue();
      assertThat(none.getValue("offset")).isNull();
      Jar.Result short2 =
          trio.produceLine(
                  "short", "events", "user-short 0", "--acks", "all", "--acks-timeout", "2s")
              .await();
      assertThat(short2.status()).as(short2.toString()).isEqualTo(1);
      assertThat(short2.err())
          .contains("line 1: it is in the log at shard 0")
          .contains("not known to be on the disk of " + Trio.id(held))
          .contains("acked 0 of 1");
      assertAcked(produce(trio, "bulk-majority", bulk), LINES);
      assertAcked(produce(trio, "bulk-none", bulk, "--acks", "none"), LINES);
      // It waits for the one that is held up, and no longer.
      Jar.Running patient =
          trio.produceLine(
              "patient", "events", "user-patient 0", "--acks", "all", "--acks-timeout", "5m");
      Awaitility.await("it is in the log")
          .atMost(Duration.ofSeconds(60))
          .ignoreExceptions()
          .until(() -> messages(asked) >= 3L * LINES + 6);
      assertThat(patient.process.isAlive()).isTrue();
      Trio.signal(held, "CONT");
      assertAcked(patient.await(), 1);
      posted(leader(trio), "all", "b 0", 200);

      trio.nodes.forEach(Node::kill);
      trio.nodes.forEach(Node::begin);
      trio.nodes.forEach(Node::awaitReady);
      Awaitility.await("all that was acknowledged is there")
          .atMost(Duration.ofSeconds(60))
          .ignoreExceptions()
          .untilAsserted(() -> assertThat(messages(trio.nodes.get(0))).isEqualTo(3L * LINES + 7));
      Jar.Running consumer =
          trio.consume("c", "events", "g", "--max", String.valueOf(3L * LINES + 7));
      assertThat(consumer.await().status()).isZero();
      List<String> lines = Lines.read(List.of(consumer.out)).get(0);
      for (String text : List.of("a 0", "majority 0", "all 0", "user-short 0", "user-patient 0")) {
        assertThat(lines).filteredOn(line -> line.contains("\"" + text + "\"")).hasSize(1);
      }
    }
  }

  private static Jar.Result produce(Trio trio, String name, Path file, String... more) {
    return trio.produceFile(name, "events", file, more).await();
  }

  private static void assertAcked(Jar.Result produced, int lines) {
    assertThat(produced.err().strip())
        .as(produced.toString())
        .endsWith("acked " + lines + " of " + lines);
    assertThat(produced.status()).isZero();
  }

  private static JsonObject posted(Node node, String acks, String payload, int status) {
    HttpResponse<String> answer =
        node.post(
            "/api/topics/events/messages?acks=" + acks,
            new JsonObject().put("payload", payload).encode());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    return new JsonObject(answer.body());
  }

  private static long messages(Node node) {
    return topic(node).getLong("messages");
  }

  private static JsonObject topic(Node node) {
    return new JsonObject(node.get("/api/topics/events").body());
  }

  private static Node leader(Trio trio) {
    return Awaitility.await("a leader")
        .atMost(Duration.ofSeconds(60))
        .ignoreExceptions()
        .until(
            () ->
                trio.node(
                    topic(trio.nodes.get(0))
                        .getJsonArray("shardList")
                        .getJsonObject(0)
                        .getString("leader")),
            node -> true);
  }
}
