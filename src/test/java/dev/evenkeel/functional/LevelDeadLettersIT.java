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
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Messages that can never be handled, in mode level: each attempt may be another member's. A member
 * and the node of the dispatcher are killed between attempts, and in the end exactly those messages
 * are dead letters, once each, after as many attempts as were asked for.
 */
@Tag("full")
class LevelDeadLettersIT {
  private static final int MESSAGES = 240;
  private static final int POISON_EVERY = 12;

  @TempDir Path directory;
  private final Set<String> poison = new TreeSet<>();
  private final Set<String> good = new TreeSet<>();

  @Test
  @Timeout(600)
  void poisonDiesOnceAfterAllAttemptsWhoeverIsKilledBetweenThem() throws IOException {
    Path runs = directory.resolve("runs");
    Path input = input();
    try (Trio trio = new Trio(directory).start()) {
      Node any = trio.node(1);
      any.createTopic("orders", 3);
      List<Jar.Running> members = new ArrayList<>();
      List.of("a", "b", "c").forEach(name -> members.add(consume(trio, name, runs)));
      assertThat(trio.produceFile("producer", "orders", input).await().status()).isZero();
      awaitRuns(runs, 1, poison.size() / 2);
      members.get(0).kill();
      awaitRuns(runs, 2, 1);
      Node dead = trio.dispatcher(any);
      dead.kill();
      Node left = trio.others(dead).get(0);
      left.awaitConsumed("g", MESSAGES);
      left.awaitFailures(poison.size());

      List<String> all = Files.readAllLines(runs);
      assertThat(all).as("no attempt beyond the last").noneMatch(run -> attempt(run) > ATTEMPTS);
      assertThat(linesOf(all, "good")).isEqualTo(good);
      assertThat(linesOf(all, "poison")).isEqualTo(poison);
      JsonArray letters = list(left);
      assertThat(payloads(letters, "")).isEqualTo(poison);
      byCommand(left, letters, runs);
      members.subList(1, 3).forEach(Jar.Running::stopWell);
    }
  }

  private Path input() throws IOException {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < MESSAGES; i++) {
      boolean bad = i % POISON_EVERY == 5;
      lines.add("key-" + i % 20 + (bad ? " poison-" : " good-") + i);
      (bad ? poison : good).add(lines.get(i));
    }
    return Files.write(directory.resolve("input"), lines);
  }

  private static Jar.Running consume(Trio trio, String name, Path runs) {
    // The command that a killed member has just begun may find no input: it says nothing then.
    String work =
        "read -r line; [ -n \"$line\" ] || exit 9; echo \"$EVENKEEL_ATTEMPT $line\" >> "
            + runs
            + "; case $line in *poison*) exit 7;; esac";
    return trio.consume(
        name,
        "orders",
        "g",
        words("--mode level --parallel 4 --retry-delays 500ms,1s --exec %s", work));
  }

  /** One comes back and dies again, one is dropped, and then all are. */
  private static void byCommand(Node node, JsonArray letters, Path runs) throws IOException {
    JsonObject first = letters.getJsonObject(0);
    int before = runsOf(runs, first.getString("payload"));
    assertThat(node.admin("group", "dead-letters", "replay", "g", name(first)).out().strip())
        .isEqualTo("replayed 1 dead letter");
    awaitDeadAgain(node, first);
    assertThat(runsOf(runs, first.getString("payload")) - before).isEqualTo(ATTEMPTS);
    assertThat(node.admin("group", "dead-letters", "show", "g", name(first)).out())
        .contains("origin        " + name(first), "attempts      3", "poison-");

    JsonObject other = letters.getJsonObject(1);
    node.admin("group", "dead-letters", "drop", "g", name(other));
    assertThat(list(node)).hasSize(letters.size() - 1).doesNotContain(other);
    node.admin("group", "dead-letters", "drop", "g", "--all");
    node.awaitFailures(0);
  }

  // What was run

  private static int attempt(String run) {
    return Integer.parseInt(run.substring(0, run.indexOf(' ')));
  }

  private static Set<String> linesOf(List<String> runs, String what) {
    Set<String> lines = new TreeSet<>();
    for (String run : runs) {
      if (run.contains(what)) {
        lines.add(run.substring(run.indexOf(' ') + 1));
      }
    }
    return lines;
  }

  private static int runsOf(Path runs, String line) throws IOException {
    return (int) Files.readAllLines(runs).stream().filter(run -> run.endsWith(" " + line)).count();
  }

  /** So many poisonous messages have begun that attempt. */
  private static void awaitRuns(Path runs, int attempt, int count) {
    Wait.until(
        count + " in attempt " + attempt,
        120,
        () ->
            Files.exists(runs)
                && Files.readAllLines(runs).stream()
                        .filter(run -> run.contains("poison") && attempt(run) == attempt)
                        .count()
                    >= count);
  }
}
