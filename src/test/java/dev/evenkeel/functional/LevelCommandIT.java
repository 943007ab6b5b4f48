package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Mode level by the commands that people use: three consumers, each message once, none ahead of
 * another by more than the range, and each leaves when nothing comes any more.
 */
@Tag("full")
class LevelCommandIT {
  private static final int MESSAGES = 3_000;
  private static final int RANGE = 50;

  @TempDir Path directory;

  private static Jar.Running consume(Node node, String name, String... more) {
    List<String> args = new ArrayList<>(List.of(more));
    args.addAll(List.of("--mode", "level", "--range", String.valueOf(RANGE), "--format", "text"));
    return node.consume(name, "even", "crew", args.toArray(String[]::new));
  }

  @Test
  void consumersShareEvenlyAndLeaveWhenIdle() throws Exception {
    Path input = Lines.write(directory.resolve("input.log"), MESSAGES, 100);
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("even", 2);
      List<Jar.Running> consumers = new ArrayList<>();
      List.of("a", "b", "c").forEach(name -> consumers.add(consume(node, name)));
      Wait.until(
          "all three take part",
          120,
          () -> {
            var answer = node.get("/api/groups/crew");
            JsonObject level =
                answer.statusCode() == 200
                    ? new JsonObject(answer.body()).getJsonObject("level")
                    : null;
            return level != null
                && level.getJsonArray("bars") != null
                && level.getJsonArray("bars").size() == 3;
          });
      TopicMessages.send(node, "even", input, null);
      node.awaitConsumed("crew", MESSAGES);
      int read = 0;
      List<String> all = new ArrayList<>();
      for (Jar.Running consumer : consumers) {
        Jar.Result result = consumer.stop();
        assertThat(result.status()).as(result.err()).isZero();
        int lines = (int) result.out().lines().count();
        assertThat(lines).isBetween(MESSAGES / 3 - RANGE, MESSAGES / 3 + RANGE);
        result.out().lines().forEach(all::add);
        read += lines;
      }
      assertThat(read).isEqualTo(MESSAGES);
      assertThat(new HashSet<>(all)).hasSize(MESSAGES);

      Jar.Result again = consume(node, "d", "--idle-exit", "1s").await();
      assertThat(again.status()).as(again.err()).isZero();
      assertThat(again.out()).isEmpty();
      String described = node.admin("group", "describe", "crew").out();
      assertThat(described).contains("mode      level").contains("range     " + RANGE);
    }
  }
}
