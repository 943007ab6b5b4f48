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
import java.util.TreeSet;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What handlers need is gone for a while; and what {@code --on-failure} says becomes of a message.
 */
class BreakerIT {
  private static final int OUTAGE_SECONDS = Integer.getInteger("evenkeel.outageSeconds", 10);

  @TempDir Path directory;

  private static ConditionFactory await(String what) {
    return Awaitility.await(what)
        .atMost(Duration.ofSeconds(120))
        .pollInterval(Duration.ofMillis(200));
  }

  private Path lines(String name, int from, int to) throws IOException {
    List<String> lines = new ArrayList<>();
    for (int i = from; i < to; i++) {
      lines.add("m" + i);
    }
    return Files.write(directory.resolve(name), lines);
  }

  private static long count(Path file) throws IOException {
    return Files.exists(file) ? Files.readAllLines(file).size() : 0;
  }

  private static JsonObject group(Node node) {
    return new JsonObject(node.get("/api/groups/g").body());
  }

  private static List<String> breakers(Node node) {
    List<String> breakers = new ArrayList<>();
    for (Object each : group(node).getJsonArray("members", new JsonArray())) {
      breakers.add(((JsonObject) each).getString("breaker"));
    }
    return breakers;
  }

  private static JsonArray letters(Node node) {
    return new JsonArray(node.get("/api/groups/g/dead-letters").body());
  }

  private static void produce(Node node, Path input, String... more) {
    String name = input.getFileName().toString();
    assertThat(node.produce(name, input, "t", more).await().status()).isZero();
  }

  @Test
  @Timeout(600)
  void an_outage_burns_no_attempts() throws IOException {
    Path done = directory.resolve("done");
    Path gone = directory.resolve("gone");
    String work =
        "read -r line; [ -n \"$line\" ] || exit 9; [ ! -e "
            + gone
            + " ] || exit 3; echo \"$line\" >> "
            + done;
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("t", 4);
      try (Jar.Running a = consume(node, "a", work);
          Jar.Running b = consume(node, "b", work)) {
        await("both are there").until(() -> breakers(node).size() == 2);
        // By keys, so that both get some: without keys a batch goes to one shard.
        produce(node, lines("before", 0, 100), "--key-regex", "(m\\d+)");
        await("it works").until(() -> count(done) == 100);
        Files.createFile(gone);
        produce(node, lines("during", 100, 500), "--key-regex", "(m\\d+)");
        await("both breakers are open")
            .untilAsserted(() -> assertThat(breakers(node)).containsExactly("open", "open"));
        assertThat(node.admin("group", "describe", "g").out())
            .contains("breaker   open: most messages fail at a, b");
        Awaitility.await("they stay open, and nothing dies")
            .atMost(Duration.ofSeconds(OUTAGE_SECONDS + 60))
            .pollInterval(Duration.ofMillis(500))
            .during(Duration.ofSeconds(OUTAGE_SECONDS))
            .until(() -> breakers(node).equals(List.of("open", "open")) && letters(node).isEmpty());
        Files.delete(gone);
        node.awaitConsumed("g", 500);
        await("everything is done, and nothing waits")
            .untilAsserted(
                () -> {
                  assertThat(new TreeSet<>(Files.readAllLines(done))).hasSize(500);
                  assertThat(group(node).getJsonObject("failures"))
                      .isEqualTo(
                          new JsonObject()
                              .put("retriesWaiting", 0)
                              .put("parked", 0)
                              .put("shardsWaiting", 0)
                              .put("deadLetters", 0));
                  assertThat(breakers(node)).containsExactly("closed", "closed");
                });
        assertThat(a.stop().status()).isZero();
        assertThat(b.stop().status()).isZero();
        assertThat(a.err()).contains("most messages fail", "messages are handled again");
      }
    }
  }

  private static Jar.Running consume(Node node, String member, String work) {
    return node.consume(
        member,
        "t",
        "g",
        "--order",
        "none",
        "--parallel",
        "4",
        "--retry-delays",
        "2s,2s",
        "--verbose",
        "--exec",
        work);
  }

  @Test
  @Timeout(600)
  void a_consumer_stops_at_a_message_or_puts_it_aside_at_once() throws IOException {
    Path runs = directory.resolve("runs");
    String work =
        "read -r line; echo \"$EVENKEEL_ATTEMPT $line\" >> " + runs + "; [ \"$line\" != m5 ]";
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("t", 1);
      produce(node, lines("input", 0, 10));
      Jar.Result stopped =
          node.consume("a", "t", "g", "--on-failure=stop", "--retry-delays=100ms", "--exec", work)
              .await();
      assertThat(stopped.status()).as(stopped.toString()).isEqualTo(1);
      assertThat(stopped.err())
          .contains("attempt 2 at offset 5 failed, the consumer ends")
          .contains("'" + work + "' ended with exit status 1");
      assertThat(Files.readAllLines(runs))
          .containsExactly("1 m0", "1 m1", "1 m2", "1 m3", "1 m4", "1 m5", "2 m5");
      assertThat(letters(node)).isEmpty();
      assertThat(node.shards("g").get(0).getLong("committed")).isEqualTo(5);

      try (Jar.Running on =
          node.consume("b", "t", "g", "--on-failure=dead-letter", "--exec", work)) {
        node.awaitConsumed("g", 10);
        assertThat(letters(node)).hasSize(1);
        JsonObject letter = letters(node).getJsonObject(0);
        assertThat(letter.getString("payload")).isEqualTo("m5");
        assertThat(letter.getLong("offset")).isEqualTo(5);
        assertThat(on.stop().status()).isZero();
      }
      assertThat(Files.readAllLines(runs).subList(7, 12))
          .containsExactly("2 m5", "1 m6", "1 m7", "1 m8", "1 m9");
    }
  }
}
