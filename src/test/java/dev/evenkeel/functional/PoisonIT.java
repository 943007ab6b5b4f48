package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import dev.evenkeel.protocol.Limits;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A message that kills its consumer does not stop the group for ever: after some deaths it becomes
 * a dead letter, and everything else is handled.
 */
@Tag("full")
class PoisonIT extends OneNode {
  @ParameterizedTest
  @ValueSource(strings = {"shard", "key", "none"})
  @Timeout(300)
  void itBecomesADeadLetterAndTheOthersAreHandled(String order) throws Exception {
    dies(order, List.of("--order", order));
  }

  @Test
  @Timeout(300)
  void alsoInModeLevel() throws Exception {
    dies("level", List.of("--mode", "level"));
  }

  @Test
  @Timeout(300)
  void alsoWithState() throws Exception {
    dies("state", List.of("--on-assign", "cat >/dev/null", "--on-release", "echo 1"));
  }

  private void dies(String name, List<String> options) throws Exception {
    Path done = directory.resolve("done-" + name);
    Path attempts = directory.resolve("attempts-" + name);
    Files.createFile(done);
    List<String> messages =
        IntStream.range(0, 60).mapToObj(i -> i == 23 ? "poison" : "good" + i).toList();
    node.createTopic(name, 2);
    node.send(name, messages);
    String work =
        "read -r line; [ ${#line} = $EVENKEEL_LENGTH ] || exit; case $line in poison) echo $EVENKEEL_ATTEMPT >> "
            + attempts
            + "; kill -9 $PPID; exit 1;; esac; echo $line >> "
            + done;
    List<String> arguments = new ArrayList<>(options);
    arguments.addAll(List.of("--exec", work));
    // Until the shard is handled with care, progress of the group lets the count begin anew.
    List<Long> deathsAt = new ArrayList<>();
    boolean over = false;
    while (!over) {
      String[] more = arguments.toArray(String[]::new);
      try (Jar.Running consumer = node.consume("m" + deathsAt.size(), name, name, more)) {
        Wait.until(() -> !consumer.process.isAlive() || committed(name) == messages.size());
        over = consumer.process.isAlive();
        if (!over) {
          long committed = committed(name);
          deathsAt.add(committed);
          assertThat(Collections.frequency(deathsAt, committed))
              .as("deaths without progress of the group: " + deathsAt)
              .isLessThanOrEqualTo(Limits.CRASHES_MAX_DEFAULT);
        }
      }
    }
    assertThat(deathsAt).hasSizeGreaterThanOrEqualTo(Limits.CRASHES_MAX_DEFAULT);
    assertThat(new TreeSet<>(Files.readAllLines(done)))
        .hasSize(messages.size() - 1)
        .doesNotContain("poison");
    JsonArray letters = new JsonArray(node.get("/api/groups/" + name + "/dead-letters").body());
    assertThat(letters).hasSize(1);
    JsonObject letter = letters.getJsonObject(0);
    assertThat(letter.getString("payload")).isEqualTo("poison");
    assertThat(letter.getString("error")).contains("times while it was handled");
    List<String> seen = Files.readAllLines(attempts);
    assertThat(seen.get(seen.size() - 1)).as("the attempts tell of the deaths").isNotEqualTo("1");
  }

  private static long committed(String group) {
    return node.shards(group).stream()
        .map(shard -> shard.getLong("committed"))
        .mapToLong(committed -> committed == null ? 0 : committed)
        .sum();
  }
}
