package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Counts that live in the consumers' memory stay exact while consumers come, go and are killed, and
 * while each move carries a state of nearly 1 MiB.
 */
class WordCountIT {
  private static final int PADDING_BYTES = 1_000_000;
  private static final int LINES = 6_000;
  private static final int KEYS = 40;

  @TempDir Path directory;

  @Test
  void counts_in_memory_stay_exact_while_consumers_come_go_and_are_killed() throws IOException {
    Path input = Lines.write(directory.resolve("input.log"), LINES, KEYS);
    Map<String, Long> expected = new HashMap<>();
    for (String line : Files.readAllLines(input)) {
      count(line, expected);
    }
    List<Jar.Running> started = new ArrayList<>();
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.admin("topic", "create", "lines", "--shards", "12");
      Members members = new Members(node, "words");
      Jar.Running a = counter(node, "a", started);
      members.awaitCounts(Map.of("a", 12));
      Jar.Running producer =
          node.produce(
              "producer", input, "lines", "--key-regex", Lines.KEY_REGEX, "--rate", "600");
      awaitConsumed(node, 500);
      // No state has been released so far: the next owner begins at the beginning.
      a.kill();
      Jar.Running b = counter(node, "b", started);
      members.awaitCounts(Map.of("b", 12));
      awaitConsumed(node, 1_500);
      Jar.Running c = counter(node, "c", started);
      members.awaitCounts(Map.of("b", 6, "c", 6));
      awaitConsumed(node, 2_500);
      c.kill();
      members.awaitCounts(Map.of("b", 12));
      Jar.Running d = counter(node, "d", started);
      members.awaitCounts(Map.of("b", 6, "d", 6));
      // All twelve states at once, twice.
      b.stop();
      members.awaitCounts(Map.of("d", 12));
      assertThat(producer.await().status()).isZero();
      node.awaitConsumed("words", LINES);
      d.stop();
      assertThat(given(d)).isEqualTo(expected);
      Jar.Running e = counter(node, "e", started);
      members.awaitCounts(Map.of("e", 12));
      e.stop();
      assertThat(given(e)).isEqualTo(expected);
    } finally {
      started.forEach(Jar.Running::close);
    }
  }

  private Jar.Running counter(Node node, String member, List<Jar.Running> started) {
    Jar.Running running =
        Program.start(
            directory,
            member,
            Program.thinClassPath(),
            "examples.WordCountExample",
            node.cluster(),
            "lines",
            "words",
            member,
            String.valueOf(PADDING_BYTES));
    started.add(running);
    return running;
  }

  private static void awaitConsumed(Node node, long messages) {
    Awaitility.await(messages + " messages are consumed")
        .atMost(Duration.ofSeconds(90))
        .pollInterval(Duration.ofMillis(100))
        .until(
            () ->
                node.shards("words").stream().mapToLong(shard -> shard.getLong("committed")).sum()
                    >= messages);
  }

  /** The sum of what a consumer gave away at its end. */
  private static Map<String, Long> given(Jar.Running counter) {
    Map<String, Long> sum = new HashMap<>();
    counter
        .out()
        .lines()
        .filter(line -> line.startsWith("gave "))
        .forEach(
            line ->
                new JsonObject(line.substring(line.indexOf('{')))
                    .forEach(
                        word ->
                            sum.merge(
                                word.getKey(), ((Number) word.getValue()).longValue(), Long::sum)));
    return sum;
  }

  private static void count(String line, Map<String, Long> counts) {
    for (String word : line.split("\\s+")) {
      counts.merge(word, 1L, Long::sum);
    }
  }
}
