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
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Handlers that block for longer than the member timeout keep their member in its group. */
class BlockingIT {
  private static final int MILLIS = 7_000;
  private static final int SHARDS = 16;

  @TempDir Path directory;

  @Test
  @Timeout(180)
  void onWorkersAndEvenOnTheEventLoop() throws IOException {
    // Two rounds of sixteen workers, and two messages one after another.
    run(2 * SHARDS, 2, Duration.ofMinutes(2));
  }

  @Test
  @Tag("full")
  @Timeout(900)
  void forFiveMinutes() throws IOException {
    run(43 * SHARDS, 43, Duration.ofMinutes(12));
  }

  private void run(int messages, int alone, Duration patience) throws IOException {
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("work", SHARDS);
      node.createTopic("alone", 1);
      node.send("work", texts(messages));
      node.send("alone", texts(alone));
      Path worked = directory.resolve("worked");
      Path stood = directory.resolve("stood");
      Jar.Running workers = start(node, "work", worked, "worker");
      Jar.Running eventLoop = start(node, "alone", stood, "event-loop").mayPause();
      node.awaitConsumed("of-work", messages, patience);
      node.awaitConsumed("of-alone", alone, patience);

      assertThat(lines(worked)).hasSize(messages).doesNotHaveDuplicates();
      assertThat(lines(stood)).hasSize(alone).doesNotHaveDuplicates();
      assertThat(workers.err()).doesNotContain("blocked the event loop");
      assertThat(eventLoop.err())
          .containsOnlyOnce("has blocked the event loop")
          .contains("BlockingMember.java")
          .contains("option worker");
      assertThat(workers.stop().status()).isZero();
      assertThat(eventLoop.stop().status()).isZero();
    }
  }

  private Jar.Running start(Node node, String topic, Path file, String how) {
    List<String> classPath = new ArrayList<>(Program.clientClassPath());
    classPath.addAll(Program.loggingLibraries());
    Jar.Running running =
        Program.start(
            directory,
            topic,
            classPath,
            BlockingMember.class.getName(),
            node.cluster(),
            topic,
            "of-" + topic,
            String.valueOf(MILLIS),
            file.toString(),
            how);
    Awaitility.await("every shard has its owner")
        .atMost(Duration.ofSeconds(30))
        .ignoreExceptions()
        .until(() -> node.read("/api/groups/of-" + topic), group -> ownedByOne(group));
    return running;
  }

  /** Whether the first owner of each shard has it. Its lease had epoch 1 before it had an owner. */
  private static boolean ownedByOne(String group) {
    JsonArray shards = new JsonObject(group).getJsonArray("shards");
    return !shards.isEmpty()
        && shards.stream()
            .map(JsonObject.class::cast)
            .allMatch(shard -> "m".equals(shard.getString("owner")) && shard.getLong("epoch") == 2);
  }

  private static List<String> lines(Path file) throws IOException {
    return Files.readAllLines(file);
  }

  private static List<String> texts(int count) {
    return IntStream.range(0, count).mapToObj(String::valueOf).toList();
  }
}
