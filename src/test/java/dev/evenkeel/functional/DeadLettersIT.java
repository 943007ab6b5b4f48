package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Messages that can never be handled, among others: consumer and node are killed in the middle, and
 * in the end exactly those are dead letters, once each, after as many attempts as were asked for.
 */
class DeadLettersIT {
  private static final int MESSAGES = Integer.getInteger("evenkeel.deadletters.messages", 400);
  private static final int POISON_EVERY = 40;

  @TempDir Path directory;

  @Test
  @Timeout(600)
  void poison_ends_as_a_dead_letter_once_each_whoever_is_killed() throws IOException {
    Path input = directory.resolve("input");
    Set<String> poison = new TreeSet<>();
    Set<String> good = new TreeSet<>();
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < MESSAGES; i++) {
      boolean bad = i % POISON_EVERY == 7;
      lines.add("key=" + i % 10 + " " + (bad ? "poison-" : "good-") + i);
      (bad ? poison : good).add(lines.get(i));
    }
    Files.write(input, lines);
    Path done = directory.resolve("done");
    String work = work(done);
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.admin("topic", "create", "orders", "--shards", "3");
      try (Jar.Running first = consume(node, "a", work)) {
        assertThat(
                node.produce("producer", input, "orders", "--key-regex", "key=(\\d+)")
                    .await()
                    .status())
            .isZero();
        awaitDone(done, MESSAGES / 4);
        first.kill();
      }
      try (Jar.Running second = consume(node, "b", work)) {
        awaitDone(done, MESSAGES / 2);
        node.kill();
        node.start();
        Awaitility.await("all are done, or dead letters")
            .atMost(Duration.ofSeconds(180))
            .pollInterval(Duration.ofMillis(500))
            .untilAsserted(
                () -> {
                  assertThat(new TreeSet<>(Files.readAllLines(done))).isEqualTo(good);
                  assertThat(list(node)).hasSizeGreaterThanOrEqualTo(poison.size());
                });
        node.awaitConsumed("g", MESSAGES);
        JsonArray letters = list(node);
        assertThat(payloads(letters)).isEqualTo(poison);
        JsonObject group = new JsonObject(node.get("/api/groups/g").body());
        assertThat(group.getJsonObject("failures"))
            .isEqualTo(
                new JsonObject()
                    .put("retriesWaiting", 0)
                    .put("parked", 0)
                    .put("shardsWaiting", 0)
                    .put("deadLetters", poison.size()));
        replayAndDrop(node, letters);
        Jar.Result end = second.stop();
        assertThat(end.status()).isZero();
        assertThat(end.err()).doesNotContain("exit status 9");
      }
    }
  }

  /**
   * What is run for each message. The command that a killed consumer has just begun may find its
   * input at an end before anything came; no other may.
   */
  private static String work(Path done) {
    return "line=$(cat); case \"$line\" in '') exit 9;; *poison*) exit 7;; esac; echo \"$line\" >> "
        + done;
  }

  /** The payloads of dead letters, each of which tells all that it should, once. */
  private static Set<String> payloads(JsonArray letters) {
    Set<String> dead = new TreeSet<>();
    for (Object each : letters) {
      JsonObject letter = (JsonObject) each;
      assertThat(letter.fieldNames())
          .containsExactlyInAnyOrder(
              "topic",
              "shard",
              "offset",
              "key",
              "payload",
              "attempts",
              "error",
              "firstFailed",
              "lastFailed");
      assertThat(letter.getInteger("attempts")).as(letter.encode()).isEqualTo(3);
      assertThat(letter.getString("error")).contains("exit status 7");
      assertThat(letter.getString("key")).isEqualTo(letter.getString("payload").substring(4, 5));
      assertThat(dead.add(letter.getString("payload"))).as("once").isTrue();
    }
    return dead;
  }

  /** One comes back and dies again; then all are dropped. */
  private static void replayAndDrop(Node node, JsonArray letters) {
    JsonObject one = letters.getJsonObject(0);
    String name =
        one.getString("topic") + "/" + one.getInteger("shard") + "/" + one.getLong("offset");
    node.admin("group", "dead-letters", "replay", "g", name);
    Awaitility.await("it has died again")
        .atMost(Duration.ofSeconds(60))
        .until(
            () -> {
              JsonArray now = list(node);
              return now.size() == letters.size()
                  && !now.getJsonObject(0)
                      .getString("lastFailed")
                      .equals(one.getString("lastFailed"));
            });
    assertThat(node.admin("group", "dead-letters", "show", "g", name).out()).contains("attempts");
    node.admin("group", "dead-letters", "drop", "g", "--all");
    assertThat(list(node)).isEmpty();
  }

  private static Jar.Running consume(Node node, String member, String work) {
    return node.consume(
        member,
        "orders",
        "g",
        "--order",
        "key",
        "--retry-delays",
        "100ms,200ms",
        "--parallel",
        "4",
        "--exec",
        work);
  }

  private static JsonArray list(Node node) {
    return new JsonArray(
        node.admin("group", "dead-letters", "list", "g", "--format", "json").out());
  }

  private static void awaitDone(Path done, int lines) {
    Awaitility.await(lines + " messages")
        .atMost(Duration.ofSeconds(90))
        .pollInterval(Duration.ofMillis(20))
        .until(() -> Files.exists(done) && Files.readAllLines(done).size() >= lines);
  }
}
