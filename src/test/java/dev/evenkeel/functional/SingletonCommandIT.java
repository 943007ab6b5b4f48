package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Unchecked;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Mode singleton by the commands that people use. */
@Tag("full")
class SingletonCommandIT {
  private static final int MESSAGES = 200;

  @TempDir Path directory;
  private Path log;

  private Jar.Running consume(Node node, String name) {
    String line = "$EVENKEEL_TERM $EVENKEEL_MEMBER >> " + log;
    return node.consume(
        name,
        "jobs",
        "boss",
        words(
            "--mode singleton --exec %s --on-assign %s --on-release %s",
            "echo message " + line, "echo assign " + line, "echo release " + line));
  }

  private List<String> lines() {
    return Unchecked.get(() -> Files.exists(log) ? Files.readAllLines(log) : List.of());
  }

  private long count(String line) {
    return lines().stream().filter(line::equals).count();
  }

  @Test
  void oneWorksAndTheOtherTakesOver() throws Exception {
    log = directory.resolve("work.log");
    Path input = Lines.write(directory.resolve("input.log"), MESSAGES, 10);
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("jobs", 2);
      Members members = new Members(node, "boss");
      try (Jar.Running first = consume(node, "a")) {
        members.awaitCounts(Map.of("a", 2));
        try (Jar.Running second = consume(node, "b")) {
          LeaderGroup.await(
              "two members",
              () -> {
                var answer = node.get("/api/groups/boss");
                return answer.statusCode() == 200
                    && new JsonObject(answer.body()).getJsonArray("members").size() == 2;
              });
          TopicMessages.send(node, "jobs", input, null);
          node.awaitConsumed("boss", MESSAGES);
          assertThat(count("message 1 a")).isEqualTo(MESSAGES);
          assertThat(count("assign 1 a")).isEqualTo(2);
          assertThat(members.owners()).containsOnly(Map.entry(0, "a"), Map.entry(1, "a"));

          Jar.Result other = node.consume("c", "jobs", "boss").await();
          assertThat(other.status()).isEqualTo(1);
          assertThat(other.err()).contains("runs in mode singleton, not sharded");

          first.stopWell();
          TopicMessages.send(node, "jobs", input, null);
          node.awaitConsumed("boss", 2 * MESSAGES);
          assertThat(count("release 1 a")).isEqualTo(2);
          assertThat(count("message 2 b")).isEqualTo(MESSAGES);
          assertThat(lines().lastIndexOf("release 1 a")).isLessThan(lines().indexOf("assign 2 b"));
          assertThat(node.admin("group", "describe", "boss").out())
              .contains("mode      singleton")
              .contains("leader    b at term 2");
          assertThat(second.stop().status()).isZero();
        }
      }
    }
  }
}
