package dev.evenkeel.functional;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Rates by the commands that people use: what is over them waits or is dropped, and is counted. */
class RatesIT {
  private static final int KEYS = 20;
  private static final int EACH = 10;
  private static final int PERMITS = 3;

  @TempDir Path directory;

  @Test
  @Timeout(300)
  void floodsOfKeysAreThinnedAndCounted() throws Exception {
    Path input = directory.resolve("input");
    List<String> lines = new ArrayList<>();
    times(EACH, i -> times(KEYS, key -> lines.add("key-" + key + " " + i)));
    Files.write(input, lines);
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("requests", 2);
      TopicMessages.send(node, "requests", input, "^(\\S+) ");
      try (Jar.Running newest = limited(node, "drop-newest", "3/1h", "newest");
          Jar.Running waiting = limited(node, "wait", "3/1h", "waiting")) {
        awaitRates(node, "newest", KEYS, KEYS * (EACH - PERMITS - 1));
        awaitLines(newest, KEYS * PERMITS);
        awaitRates(node, "waiting", KEYS, 0);
        awaitLines(waiting, KEYS * PERMITS);
        for (Jar.Running each : List.of(newest, waiting)) {
          Map<String, List<String>> byKey = new HashMap<>();
          each.out()
              .lines()
              .map(line -> line.split(" "))
              .forEach(
                  words -> byKey.computeIfAbsent(words[0], any -> new ArrayList<>()).add(words[1]));
          assertThat(byKey).hasSize(KEYS);
          byKey.forEach((key, ofKey) -> assertThat(ofKey).as(key).containsExactly("0", "1", "2"));
        }
        String described = node.admin("group", "describe", "newest").out();
        assertThat(described)
            .contains("rates     " + KEYS + " waiting now")
            .contains(KEYS * (EACH - PERMITS - 1) + " dropped");
        Awaitility.await("the metrics say so")
            .atMost(Duration.ofSeconds(60))
            .pollInterval(Duration.ofMillis(500))
            .untilAsserted(
                () ->
                    assertThat(node.get("/metrics").body())
                        .contains("evenkeel_group_rate_dropped_total{group=\"newest\"} 120")
                        .contains("evenkeel_group_rate_waiting{group=\"newest\"} " + KEYS));
      }
      everythingComesInTheEnd(node, lines);
    }
  }

  /** A total rate delays and drops nothing. */
  private static void everythingComesInTheEnd(Node node, List<String> lines) {
    try (Jar.Running all = node.consume("all", "requests", "all", "--rate", "20/100ms");
        Jar.Running keyed =
            node.consume("keyed", "requests", "keyed", "--order", "key", "--key-rate", "5/100ms")) {
      for (Jar.Running each : List.of(all, keyed)) {
        // One that was taken for lost may have been given some again.
        Wait.until(
            "everything", 120, () -> new TreeSet<>(each.out().lines().toList()).containsAll(lines));
        Jar.Result ended = each.stop();
        assertThat(ended.status()).as(ended.err()).isZero();
        assertThat(new TreeSet<>(ended.lines())).isEqualTo(new TreeSet<>(lines));
      }
    }
  }

  private static Jar.Running limited(Node node, String over, String rate, String group) {
    return node.consume(
        "m", "requests", group, "--order", "key", "--key-rate", rate, "--over-rate", over);
  }

  private static void awaitLines(Jar.Running member, int lines) {
    Wait.until(
        lines + " lines",
        120,
        () -> member.out().endsWith("\n") && member.out().lines().count() == lines);
  }

  private static void awaitRates(Node node, String group, int waiting, int dropped) {
    Wait.until(
        group + ": " + dropped + " dropped",
        120,
        () -> {
          var answer = node.get("/api/groups/" + group);
          JsonObject rates =
              answer.statusCode() == 200
                  ? new JsonObject(answer.body()).getJsonObject("rates")
                  : new JsonObject();
          return Long.valueOf(dropped).equals(rates.getLong("dropped"))
              && Long.valueOf(waiting).equals(rates.getLong("waiting"));
        });
  }
}
