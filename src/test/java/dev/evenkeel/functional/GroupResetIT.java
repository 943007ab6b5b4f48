package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code group reset}: refused while consumers work, unless they are made to let go. */
class GroupResetIT {
  private static final int MESSAGES = 300;

  @TempDir Path directory;

  @Test
  @Timeout(300)
  void a_running_group_is_reset_by_force_alone_and_an_idle_one_anywhere() throws IOException {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < MESSAGES; i++) {
      lines.add("line-" + i);
    }
    Path input = Files.write(directory.resolve("input"), lines);
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("t", 2);
      assertThat(node.produce("producer", input, "t", "--key-regex", "-(.*)").await().status())
          .isZero();
      try (Jar.Running consumer = node.consume("m", "t", "g", "--format", "json")) {
        awaitLines(consumer, MESSAGES);
        node.awaitConsumed("g", MESSAGES);
        Jar.Result refused = reset(node, "--to", "earliest");
        assertThat(refused.status()).isEqualTo(1);
        assertThat(refused.err()).contains("'m' owns shard t/").contains("force").hasLineCount(1);
        assertThat(reset(node, "--to", "nowhere").status()).isEqualTo(2);
        Jar.Result range = reset(node, "--to", "99999");
        assertThat(range.err())
            .containsPattern("offset 99999: t/[01] has 0 to \\d+, the next message");
        node.admin("group", "reset", "g", "--to", "earliest", "--dry-run");
        assertThat(node.shards("g")).allMatch(shard -> shard.getLong("lag") == 0);

        node.admin("group", "reset", "g", "--to", "earliest", "--force");
        awaitLines(consumer, 2 * MESSAGES);
        node.awaitConsumed("g", MESSAGES);
        assertThat(node.shards("g")).allMatch(shard -> shard.getLong("epoch") >= 3);
        assertThat(consumer.stop().status()).isZero();
        assertEpochsGrow(consumer);
      }
      String answer =
          node.admin("group", "reset", "g", "--to", "10", "--shard", "1", "--format", "json").out();
      JsonObject moved = new JsonObject(answer).getJsonArray("shards").getJsonObject(0);
      assertThat(moved.getString("state")).isEqualTo("DONE");
      assertThat(moved.getLong("to")).isEqualTo(10);
      JsonObject shard = node.shards("g").get(1);
      assertThat(shard.getLong("committed")).isEqualTo(10);
      assertThat(shard.getLong("lag")).isEqualTo(shard.getLong("end") - 10);
      try (Jar.Running next =
          node.consume("n", "t", "g", "--format", "json", "--idle-exit", "2s")) {
        assertThat(next.await().status()).isZero();
        assertThat(offsets(next)).startsWith(10L).hasSize((int) (shard.getLong("end") - 10));
      }
      node.admin("group", "reset", "g", "--to", "2020-01-01T00:00:00Z");
      assertThat(node.shards("g")).allMatch(each -> each.getLong("committed") == 0);
    }
  }

  @Test
  @Timeout(300)
  void a_lost_consumer_has_its_crash_lock_time_to_come_back() throws IOException {
    Path input = Files.write(directory.resolve("input"), List.of("one", "two", "three"));
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("t", 1);
      assertThat(node.produce("producer", input, "t").await().status()).isZero();
      try (Jar.Running consumer = node.consume("m", "t", "g", "--crash-lock-time", "15s")) {
        node.awaitConsumed("g", 3);
        consumer.kill();
      }
      Awaitility.await("it is lost")
          .atMost(Duration.ofSeconds(30))
          .until(
              () ->
                  new JsonObject(node.get("/api/groups/g").body())
                      .getJsonArray("members")
                      .isEmpty());
      Jar.Result refused = reset(node, "--to", "earliest");
      assertThat(refused.status()).isEqualTo(1);
      assertThat(refused.err())
          .containsPattern(
              "'m' was lost and has \\d+ s of its crash lock time left to give shard t/0")
          .hasLineCount(1);
      long epoch = node.shards("g").get(0).getLong("epoch");
      node.admin("group", "reset", "g", "--to", "earliest", "--force");
      JsonObject shard = node.shards("g").get(0);
      assertThat(shard.getLong("epoch")).isEqualTo(epoch + 1);
      assertThat(shard.getLong("committed")).isZero();
    }
  }

  private Jar.Result reset(Node node, String... args) {
    List<String> all = new ArrayList<>(List.of("group", "reset", "g", "--http", node.url()));
    all.addAll(List.of(args));
    return Jar.run(directory, all.toArray(String[]::new));
  }

  private static void awaitLines(Jar.Running consumer, int lines) {
    Awaitility.await(lines + " lines")
        .atMost(Duration.ofSeconds(90))
        .pollInterval(Duration.ofMillis(50))
        .until(() -> consumer.out().lines().count() >= lines);
  }

  /** What a fenced epoch had begun does not go on after the next began. */
  private static void assertEpochsGrow(Jar.Running consumer) {
    long[] epochs = new long[2];
    long[] next = new long[2];
    consumer
        .out()
        .lines()
        .map(JsonObject::new)
        .forEach(
            message -> {
              int shard = message.getInteger("shard");
              long epoch = message.getLong("epoch");
              assertThat(epoch).isGreaterThanOrEqualTo(epochs[shard]);
              next[shard] = epoch > epochs[shard] ? 0 : next[shard];
              epochs[shard] = epoch;
              assertThat(message.getLong("offset")).isEqualTo(next[shard]++);
            });
  }

  private static List<Long> offsets(Jar.Running consumer) {
    return consumer.out().lines().map(line -> new JsonObject(line).getLong("offset")).toList();
  }
}
