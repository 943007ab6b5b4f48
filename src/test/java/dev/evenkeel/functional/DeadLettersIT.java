package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static dev.evenkeel.functional.DeadLetters.ATTEMPTS;
import static dev.evenkeel.functional.DeadLetters.awaitDeadAgain;
import static dev.evenkeel.functional.DeadLetters.list;
import static dev.evenkeel.functional.DeadLetters.name;
import static dev.evenkeel.functional.DeadLetters.payloads;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * One message of a hundred can never be handled: a consumer of three and the node are killed in the
 * middle, and in the end exactly those are dead letters, once each, after as many attempts as were
 * asked for, while everything else is done in the order of its key.
 */
class DeadLettersIT {
  private static final int MESSAGES = Integer.getInteger("evenkeel.deadLetterMessages", 1_500);
  private static final int KEYS = 50;
  private static final int POISON_EVERY = 97;

  @TempDir Path directory;
  private final Set<String> poison = new TreeSet<>();
  private final Set<String> good = new TreeSet<>();

  @Test
  @Timeout(1_800)
  void poisonEndsAsADeadLetterOnceEachWhoeverIsKilled() throws IOException {
    Path input = input();
    Path runs = directory.resolve("runs");
    String work = work(runs);
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("orders", 6);
      try (Jar.Running first = consume(node, "a", work);
          Jar.Running second = consume(node, "b", work);
          Jar.Running third = consume(node, "c", work)) {
        String regex = "key=(\\d+)";
        assertThat(node.produce("producer", input, "orders", "--key-regex", regex).await().status())
            .isZero();
        awaitRuns(runs, MESSAGES / 2);
        first.kill();
        awaitRuns(runs, MESSAGES * 2 / 3);
        node.kill();
        node.start();
        awaitRuns(runs, MESSAGES);
        node.awaitConsumed("g", MESSAGES);
        node.awaitFailures(poison.size());
        List<String> all = Files.readAllLines(runs);
        assertThat(doneOf(all)).isEqualTo(good);
        assertInOrder(all);
        JsonArray letters = list(node);
        assertThat(payloads(letters, "key=")).isEqualTo(poison);
        byCommand(node, letters);
        overHttp(node);
        assertThat(second.stop().status()).isZero();
        assertThat(third.stop().status()).isZero();
      }
    }
  }

  private Path input() throws IOException {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < MESSAGES; i++) {
      boolean bad = i % POISON_EVERY == 7;
      lines.add("key=" + i % KEYS + " " + (bad ? "poison-" : "good-") + i);
      (bad ? poison : good).add(lines.get(i));
    }
    return Files.write(directory.resolve("input"), lines);
  }

  /**
   * What is run for each message, which says so. The command that a killed consumer has just begun
   * may find its input at an end before anything came; no other may.
   */
  private static String work(Path runs) {
    return "read -r line; [ -n \"$line\" ] || exit 9;"
        + " echo \"$EVENKEEL_ATTEMPT $line\" >> "
        + runs
        + "; case \"$line\" in *poison*) exit 7;; esac";
  }

  private static Set<String> doneOf(List<String> runs) {
    Set<String> done = new TreeSet<>();
    for (String run : runs) {
      if (run.contains("good")) {
        done.add(run.substring(run.indexOf(' ') + 1));
      }
    }
    return done;
  }

  /**
   * A message began only after the last attempt of those before it of its key. What was done when
   * somebody was killed may come again: the first time counts.
   */
  private void assertInOrder(List<String> runs) {
    Map<String, Integer> finished = new HashMap<>();
    for (String run : runs) {
      String line = run.substring(run.indexOf(' ') + 1);
      String key = line.substring(0, line.indexOf(' '));
      int number = Integer.parseInt(line.substring(line.lastIndexOf('-') + 1));
      int last = finished.getOrDefault(key, -KEYS + Integer.parseInt(key.substring(4)));
      assertThat(number).as("after " + last + ": " + run).isLessThanOrEqualTo(last + KEYS);
      if (line.contains("good") || run.startsWith(ATTEMPTS + " ")) {
        finished.put(key, Math.max(last, number));
      }
    }
  }

  /** One comes back and dies again; another is dropped. */
  private static void byCommand(Node node, JsonArray letters) {
    String name = name(letters.getJsonObject(0));
    Jar.Result replayed = node.admin("group", "dead-letters", "replay", "g", name);
    assertThat(replayed.out().strip()).isEqualTo("replayed 1 dead letter");
    awaitDeadAgain(node, letters.getJsonObject(0));
    assertThat(node.admin("group", "dead-letters", "show", "g", name).out())
        .contains("origin        " + name, "attempts      3", "poison-");
    assertThat(node.admin("group", "dead-letters", "list", "g").out())
        .contains("ERROR", "exit status 7");
    String other = name(letters.getJsonObject(1));
    node.admin("group", "dead-letters", "drop", "g", other);
    node.awaitFailures(letters.size() - 1);
    assertThat(list(node)).hasSize(letters.size() - 1).doesNotContain(letters.getJsonObject(1));
    assertThat(node.get("/api/groups/g/dead-letters/" + other).statusCode()).isNotEqualTo(200);
  }

  /** The same over HTTP; then all are dropped. */
  private static void overHttp(Node node) {
    String path = "/api/groups/g/dead-letters";
    JsonArray letters = list(node);
    JsonArray some = new JsonArray(node.get(path + "?limit=10").body());
    assertThat(letters).hasSizeGreaterThan(10);
    assertThat(some.stream().toList()).isEqualTo(letters.stream().limit(10).toList());
    JsonObject one = letters.getJsonObject(letters.size() - 1);
    assertThat(new JsonObject(node.get(path + "/" + name(one)).body())).isEqualTo(one);
    var rest = new JsonArray(node.get(path + "?after=" + name(letters.getJsonObject(0))).body());
    assertThat(rest.getJsonObject(0)).isEqualTo(letters.getJsonObject(1));
    JsonObject body = new JsonObject().put("deadLetters", new JsonArray().add(name(one)));
    JsonArray names = new JsonArray().add(name(one)).add(name(one)).add("orders/0/999999");
    JsonObject counted = new JsonObject().put("deadLetters", names).put("dryRun", true);
    assertThat(node.post(path + "/drop", counted.encode()).body().strip())
        .isEqualTo("{\"group\":\"g\",\"count\":1,\"dryRun\":true}");
    assertThat(node.post(path + "/drop", "{\"all\":true,\"dryRun\":true}").body().strip())
        .isEqualTo("{\"group\":\"g\",\"count\":" + letters.size() + ",\"dryRun\":true}");
    assertThat(node.get("/api/groups/g/retries").body().strip()).isEqualTo("[]");
    assertThat(node.post(path + "/replay", body.encode()).body().strip())
        .isEqualTo("{\"group\":\"g\",\"count\":1}");
    awaitDeadAgain(node, one);
    assertThat(node.post(path + "/drop", body.put("all", true).encode()).statusCode())
        .isEqualTo(400);
    assertThat(node.post(path + "/drop", "{\"deadLetters\":[\"orders/0\"]}").statusCode())
        .isEqualTo(400);
    assertThat(node.post(path + "/drop", "{\"all\":true}").body().strip())
        .isEqualTo("{\"group\":\"g\",\"count\":" + letters.size() + "}");
    assertThat(node.get(path).body().strip()).isEqualTo("[]");
    node.awaitFailures(0);
  }

  private static Jar.Running consume(Node node, String member, String work) {
    return node.consume(
        member,
        "orders",
        "g",
        words("--order key --retry-delays 100ms,200ms --parallel 4 --exec %s", work));
  }

  private static void awaitRuns(Path runs, int lines) {
    Wait.until(
        lines + " runs",
        900,
        () -> {
          if (!Files.exists(runs)) {
            return false;
          }
          try (var all = Files.lines(runs)) {
            return all.count() >= lines;
          }
        });
  }
}
