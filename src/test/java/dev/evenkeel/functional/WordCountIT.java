package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Counts that live in the consumers' memory stay exact while consumers come, go and are killed, and
 * while each move carries a state of nearly 1 MiB.
 */
@Tag("full")
class WordCountIT {
  private static final int PADDING_BYTES = 1_000_000;
  private static final int KEYS = 200;
  private static final int SHARDS = 12;

  @TempDir Path directory;

  @Test
  void countsInMemoryStayExactWhileConsumersComeGoAndAreKilled() {
    List<Jar.Running> started = new ArrayList<>();
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("lines", SHARDS);
      Members members = new Members(node, "words");
      Jar.Running a = counter(node, "a", started);
      awaitGot(a, 12);
      Jar.Running producer = producer(node);
      Feeder feeder = new Feeder(producer.process.getOutputStream(), KEYS);
      awaitMore(node);
      // No state has been released so far: the next owner begins at the beginning.
      a.kill();
      Jar.Running b = counter(node, "b", started);
      awaitGot(b, 12);
      awaitMore(node);
      Jar.Running c = counter(node, "c", started);
      awaitGot(c, 6);
      awaitMore(node);
      c.kill();
      members.awaitCounts(Map.of("b", 12));
      Jar.Running d = counter(node, "d", started);
      awaitGot(d, 6);
      awaitMore(node);
      b.stop();
      awaitGot(d, 12);
      feeder.close();
      long lines = feeder.finish();
      assertThat(producer.await().status()).isZero();
      node.awaitConsumed("words", lines);
      // All twelve states at once, twice.
      d.stop();
      assertThat(wrong(given(d), lines)).isEmpty();
      Jar.Running e = counter(node, "e", started);
      awaitGot(e, 12);
      e.stop();
      assertThat(wrong(given(e), lines)).isEmpty();
    } finally {
      started.forEach(Jar.Running::close);
    }
  }

  @Test
  void countsStayExactWhileTheNumberOfShardsChanges() {
    List<Jar.Running> started = new ArrayList<>();
    try (Node node = new Node(directory.resolve("node")).with("--data-groups", "3").start()) {
      node.createTopic("lines", 4);
      Members members = new Members(node, "words");
      Jar.Running a = counter(node, "a", started);
      Jar.Running b = counter(node, "b", started);
      members.awaitCounts(Map.of("a", 2, "b", 2));
      Jar.Running producer = producer(node);
      Feeder feeder = new Feeder(producer.process.getOutputStream(), KEYS);
      awaitMore(node, 4);
      node.admin("topic", "reshard", "lines", "--shards", "12");
      a.kill();
      members.awaitCounts(Map.of("b", 12));
      awaitMore(node, 12);
      counter(node, "c", started);
      members.awaitCounts(Map.of("b", 6, "c", 6));
      b.kill();
      node.admin("topic", "reshard", "lines", "--shards", "3");
      members.awaitCounts(Map.of("c", 3));
      awaitMore(node, 3);
      counter(node, "d", started);
      feeder.close();
      long lines = feeder.finish();
      assertThat(producer.await().status()).isZero();
      Wait.until("all is consumed", 90, () -> Objects.equals(node.lag("words"), 0L));
      started.forEach(Jar.Running::stop);
      // It gets the open shards, and no sealed one.
      Jar.Running last = counter(node, "e", started);
      awaitGot(last, 3);
      last.stop();
      assertThat(wrong(given(last), lines)).isEmpty();
    } finally {
      started.forEach(Jar.Running::close);
    }
  }

  private Jar.Running producer(Node node) {
    return Jar.startFed(
        directory,
        "producer",
        words(
            "produce lines --rate 600 --key-regex %s --cluster %s -",
            Lines.KEY_REGEX, node.cluster()));
  }

  private Jar.Running counter(Node node, String member, List<Jar.Running> started) {
    Jar.Running running =
        Program.start(
            directory,
            member,
            Program.clientClassPath(),
            "examples.WordCountExample",
            words("%s lines words %s %s", node.cluster(), member, PADDING_BYTES));
    started.add(running);
    return running;
  }

  /** Waits until a counter works on so many shards that it has got. */
  private static void awaitGot(Jar.Running counter, int shards) {
    Awaitility.await(shards + " shards have come")
        .atMost(Duration.ofSeconds(90))
        .pollInterval(Duration.ofMillis(50))
        .until(
            () -> counter.out().lines().filter(line -> line.startsWith("got ")).count() >= shards);
  }

  /** Waits until each shard has been committed further than now. */
  private static void awaitMore(Node node) {
    awaitMore(node, SHARDS);
  }

  private static void awaitMore(Node node, int shards) {
    Map<Integer, Long> before =
        Awaitility.await("what is committed")
            .atMost(Duration.ofSeconds(90))
            .until(() -> committed(node), known -> known.size() == shards);
    Wait.until(
        "every shard goes on",
        90,
        () -> {
          Map<Integer, Long> now = committed(node);
          return before.keySet().stream()
              .allMatch(each -> now.getOrDefault(each, -1L) > before.get(each));
        });
  }

  /** Of the shards of which it is known. */
  private static Map<Integer, Long> committed(Node node) {
    Map<Integer, Long> committed = new HashMap<>();
    for (JsonObject shard : node.shards("words")) {
      if (shard.getLong("committed") != null && !shard.getBoolean("sealed", false)) {
        committed.put(shard.getInteger("shard"), shard.getLong("committed"));
      }
    }
    return committed;
  }

  /**
   * The sum of what a consumer gave away at its end: of each shard the last. (Before, it may have
   * had a shard of one that was taken for lost and came back.)
   */
  private static Map<String, Long> given(Jar.Running counter) {
    Map<String, JsonObject> last = new HashMap<>();
    counter
        .out()
        .lines()
        .filter(line -> line.startsWith("gave "))
        .forEach(
            line ->
                last.put(line.split(" ")[1], new JsonObject(line.substring(line.indexOf('{')))));
    Map<String, Long> sum = new HashMap<>();
    for (JsonObject words : last.values()) {
      words.forEach(
          word -> sum.merge(word.getKey(), ((Number) word.getValue()).longValue(), Long::sum));
    }
    return sum;
  }

  /** The words whose counts are not those of the first lines of a {@link Feeder}. */
  private static Map<String, String> wrong(Map<String, Long> counts, long lines) {
    Map<String, Long> expected = new HashMap<>();
    long[] next = new long[KEYS];
    for (int i = 0; i < lines; i++) {
      int key = (int) (Integer.toUnsignedLong(i * 0x9E3779B9) % KEYS);
      expected.merge("user-" + key, 1L, Long::sum);
      expected.merge(String.valueOf(next[key]++), 1L, Long::sum);
    }
    Map<String, String> wrong = new TreeMap<>();
    expected.forEach(
        (word, count) -> {
          if (!count.equals(counts.get(word))) {
            wrong.put(word, counts.get(word) + " instead of " + count);
          }
        });
    counts.keySet().stream()
        .filter(word -> !expected.containsKey(word))
        .forEach(word -> wrong.put(word, "unexpected"));
    return wrong;
  }
}
