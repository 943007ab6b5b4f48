package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The example in Python consumes over HTTP, and the node that it talks to is killed. */
class HttpConsumerKilledIT {
  private static final Path EXAMPLE = Path.of("src/test/python/http_consumer.py").toAbsolutePath();
  private static final int MESSAGES = 3_000;
  private static final int KEYS = 50;

  @TempDir Path directory;

  /** A line of the example: {@code SHARD OFFSET EPOCH KEY NUMBER}. */
  private record Handled(String place, long epoch, String key, int number) {
    static Handled of(String line) {
      String[] words = line.split(" ");
      return new Handled(
          words[0] + "/" + words[1],
          Long.parseLong(words[2]),
          words[3],
          Integer.parseInt(words[4]));
    }
  }

  @BeforeAll
  static void needsPython() throws InterruptedException {
    PythonClientIT.needsPython();
  }

  @Test
  @Timeout(240)
  void itGoesOnAtAnotherNodeAndMissesNothing() throws IOException {
    try (Trio trio = new Trio(directory).start()) {
      trio.node(2).createTopic("orders", 6);
      Path lines = directory.resolve("lines");
      Files.write(
          lines,
          IntStream.range(0, MESSAGES).mapToObj(i -> "k" + i % KEYS + " " + i / KEYS).toList());
      TopicMessages.send(trio.node(2), "orders", lines, "^(\\S+)");
      List<String> command = new ArrayList<>(List.of("python3", "-B", EXAMPLE.toString()));
      command.addAll(List.of("g", "orders"));
      trio.nodes.forEach(node -> command.add(node.url()));
      Jar.Running example = Jar.unfed(Jar.launch(command, Surroundings.NONE, directory, "example"));
      Awaitility.await("a part is handled")
          .atMost(Duration.ofSeconds(60))
          .pollInterval(Duration.ofMillis(5))
          .until(() -> Files.readAllLines(example.out).size() > MESSAGES / 10);
      trio.node(1).kill();
      trio.node(2).awaitConsumed("g", MESSAGES);
      example.stop();
      check(Files.readAllLines(example.out).stream().map(Handled::of).toList());
      assertThat(example.err()).as("it has noticed").contains(trio.node(1).url());
    }
  }

  private static void check(List<Handled> all) {
    Map<String, Handled> byPlace = new HashMap<>();
    Map<String, Integer> next = new HashMap<>();
    for (Handled each : all) {
      Handled before = byPlace.put(each.place(), each);
      if (before == null) {
        assertThat(each.number())
            .as("key %s in order", each.key())
            .isEqualTo(next.getOrDefault(each.key(), 0));
        next.put(each.key(), each.number() + 1);
      } else {
        assertThat(each.epoch()).as("%s comes again", each).isGreaterThan(before.epoch());
      }
    }
    assertThat(byPlace).hasSize(MESSAGES);
  }
}
