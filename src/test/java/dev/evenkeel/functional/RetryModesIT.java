package dev.evenkeel.functional;

import static dev.evenkeel.Loops.times;
import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Retries together with deduplication, and in mode level. */
@Tag("full")
class RetryModesIT {
  @TempDir Path directory;

  private static JsonObject group(Node node) {
    return new JsonObject(node.get("/api/groups/g").body());
  }

  private static JsonArray letters(Node node) {
    return new JsonArray(node.get("/api/groups/g/dead-letters?limit=1000").body());
  }

  /** The same poison again and again: those that are declined are done, the others die. */
  @Test
  @Timeout(300)
  void retriesAreDeduplicatedAndGiveTheirPlacesBack() throws IOException {
    Path done = directory.resolve("done");
    List<String> lines = new ArrayList<>();
    Set<String> good = new TreeSet<>();
    for (int i = 0; i < 300; i++) {
      lines.add(i % 10 == 3 ? "poison" : "good-" + i % 7);
      good.add("good-" + i % 7);
    }
    Path input = Files.write(directory.resolve("input"), lines);
    String work = "read -r line; case $line in poison) exit 7;; esac; echo $line >> " + done;
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("t", 4);
      assertThat(node.produce("p", input, "t").await().status()).isZero();
      try (Jar.Running a = consume(node, "a", work);
          Jar.Running b = consume(node, "b", work)) {
        node.awaitConsumed("g", 300);
        Wait.untilAsserted(
            "nothing waits",
            () -> {
              JsonObject failures = group(node).getJsonObject("failures");
              assertThat(failures.getLong("retriesWaiting")).isZero();
              assertThat(failures.getLong("deadLetters")).isBetween(1L, 30L);
              JsonObject dedup = group(node).getJsonObject("dedup");
              assertThat(dedup.getLong("processing")).isZero();
              assertThat(dedup.getLong("waiting")).isZero();
            });
        for (Object each : letters(node)) {
          JsonObject letter = (JsonObject) each;
          assertThat(letter.getString("payload")).isEqualTo("poison");
          assertThat(letter.getInteger("attempts")).isEqualTo(3);
        }
        assertThat(new TreeSet<>(Files.readAllLines(done))).isEqualTo(good);
        assertThat(a.stop().status()).isZero();
        assertThat(b.stop().status()).isZero();
      }
    }
  }

  private static Jar.Running consume(Node node, String member, String work) {
    return node.consume(
        member,
        "t",
        "g",
        words("--dedup payload --order none --retry-delays 100ms,100ms --exec %s", work));
  }

  /** The third attempt succeeds, though the node is killed before it: attempts are counted on. */
  @Test
  @Timeout(300)
  void attemptsInModeLevelSurviveTheDispatcher() throws IOException {
    Path runs = directory.resolve("runs");
    List<String> lines = new ArrayList<>();
    times(40, i -> lines.add(i == 11 ? "flaky" : "good-" + i));
    Path input = Files.write(directory.resolve("input"), lines);
    String work =
        "read -r line; echo \"$EVENKEEL_ATTEMPT $line\" >> "
            + runs
            + "; case $line in flaky) [ $EVENKEEL_ATTEMPT -ge 3 ];; esac";
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("t", 2);
      assertThat(node.produce("p", input, "t").await().status()).isZero();
      try (Jar.Running a = node.consume("a", "t", "g", "--mode", "level", "--exec", work);
          Jar.Running b = node.consume("b", "t", "g", "--mode", "level", "--exec", work)) {
        Wait.until(
            "it has failed twice", () -> Files.exists(runs) && flaky(runs).contains("2 flaky"));
        node.kill();
        int before = flaky(runs).size();
        node.start();
        node.awaitConsumed("g", 40);
        List<String> after = flaky(runs).subList(before, flaky(runs).size());
        assertThat(after).as("counted on: " + flaky(runs)).contains("3 flaky");
        assertThat(after).doesNotContain("1 flaky");
        assertThat(letters(node)).isEmpty();
        assertThat(a.stop().status()).isZero();
        assertThat(b.stop().status()).isZero();
      }
    }
  }

  private static List<String> flaky(Path runs) throws IOException {
    return Files.readAllLines(runs).stream().filter(run -> run.endsWith("flaky")).toList();
  }
}
