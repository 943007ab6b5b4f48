package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * No member of a group in mode level ever finishes more than the range more than another, whoever
 * is slow, comes, goes, is killed or held; and nothing is lost. {@link LevelCheck} says what is
 * counted from when. Short here; {@code -Pfull} does the coming and going in several rounds.
 */
@Timeout(600)
class LevelIT {
  private static final int RANGE = 10;
  private static final int ROUNDS = Math.min(3, Integer.getInteger("evenkeel.rounds", 1));

  /** Longer than a process that has just started may have to wait for a processor. */
  private static final long STALL_MILLIS = 5_000;

  private static final Set<String> FOUR = Set.of("a", "b", "c", "d");

  @TempDir Path directory;

  @Tag("full")
  @ParameterizedTest
  @ValueSource(strings = {"pull", "push"})
  void membersOfDifferentSpeedStayLevelAtEveryMoment(String strategy) {
    int messages = 20_000;
    try (Node node = new Node(directory.resolve("node")).start();
        LevelGroup group = new LevelGroup(directory, node.cluster(), RANGE, strategy, 10_000)) {
      node.createTopic(LevelGroup.TOPIC, 12);
      group.start("a", 0);
      group.start("b", 1);
      group.start("c", 2);
      group.start("d", 5);
      group.awaitBars(node, FOUR);
      Path input = Lines.write(directory.resolve("input.log"), messages, 200);
      assertThat(
              node.produce("producer", input, LevelGroup.TOPIC, "--key-regex", Lines.KEY_REGEX)
                  .await()
                  .status())
          .isZero();
      node.awaitConsumed(LevelGroup.GROUP, messages);
      JsonObject level = group.level(node);
      assertThat(level.getInteger("range")).isEqualTo(RANGE);
      assertThat(level.getLong("gap")).isBetween(0L, (long) RANGE);
      assertThat(level.getLong("setAside")).isZero();
      group.stopAll();
      LevelCheck check = group.check(FOUR);
      assertThat(check.broken()).isEmpty();
      assertThat(check.distinct()).isEqualTo(messages);
      assertThat(check.repeated()).isZero();
      assertThat(check.finished().values())
          .allSatisfy(count -> assertThat(count).isBetween(messages / 4 - 30, messages / 4 + 30));
    }
  }

  @Test
  void theLiveStayLevelWhileOthersComeLeaveDieAndAreHeld() {
    try (Node node = new Node(directory.resolve("node")).start();
        LevelGroup group = new LevelGroup(directory, node.cluster(), RANGE, "pull", STALL_MILLIS)) {
      node.createTopic(LevelGroup.TOPIC, 6);
      List<Jar.Running> four = new ArrayList<>();
      List.of("a", "b", "c", "d").forEach(name -> four.add(group.start(name, 1)));
      group.awaitBars(node, FOUR);
      long sent;
      try (Fed fed = new Fed(directory, node.cluster())) {
        Jar.Running held = four.get(0).mayPause();
        Jar.Running leaves = four.get(1);
        Jar.Running dies = four.get(2);
        for (int round = 0; round < ROUNDS; round++) {
          group.awaitMore(300);
          String joining = "e" + round;
          group.mark("join", joining);
          final Jar.Running joined = group.start(joining, 1);
          group.awaitMoreOf(joining, 50);

          group.mark("out", round == 0 ? "b" : "f" + (round - 1));
          assertThat(leaves.stop().status()).isZero();
          group.awaitMore(300);

          group.mark("out", round == 0 ? "c" : "e" + (round - 1));
          dies.kill();
          // More than the range: the others no longer wait for it.
          group.awaitMore(300);

          group.mark("out", "a");
          LevelGroup.signal(held, "STOP");
          group.awaitMore(300);
          group.mark("back", "a");
          LevelGroup.signal(held, "CONT");
          group.awaitMoreOf("a", 50);

          String next = "f" + round;
          group.mark("join", next);
          leaves = group.start(next, 1);
          group.awaitMoreOf(next, 50);
          dies = joined;
        }
        sent = fed.finish();
      }
      node.awaitConsumed(LevelGroup.GROUP, sent);
      group.stopAll();
      LevelCheck check = group.check(FOUR);
      assertThat(check.broken()).as(() -> "the node says: " + node.process().err()).isEmpty();
      assertThat(check.distinct()).as("messages that ended").isEqualTo((int) sent);
    }
  }

  @Tag("full")
  @Test
  void theDispatcherMovesAndTheBoundDoesNotStartAfresh() {
    try (Trio trio = new Trio(directory).start();
        LevelGroup group = new LevelGroup(directory, trio.cluster(), RANGE, "pull", 10_000)) {
      Node any = trio.node(1);
      any.createTopic(LevelGroup.TOPIC, 6);
      FOUR.forEach(name -> group.start(name, name.equals("d") ? 5 : 1));
      group.awaitBars(any, FOUR);
      long sent;
      try (Fed fed = new Fed(directory, trio.cluster())) {
        group.awaitMore(500);
        for (int round = 0; round < ROUNDS; round++) {
          Node dead = trio.dispatcher(any);
          dead.kill();
          group.awaitMore(1_000);
          dead.start();
          trio.awaitCaughtUp(dead);
        }
        sent = fed.finish();
      }
      any.awaitConsumed(LevelGroup.GROUP, sent);
      group.stopAll();
      LevelCheck check = group.check(FOUR);
      // No marks: for these four it is the bound on every prefix, across all dispatchers.
      assertThat(check.broken())
          .as(
              () ->
                  trio.nodes.stream()
                      .map(node -> Trio.id(node) + " says: " + node.process().err())
                      .collect(Collectors.joining("\n")))
          .isEmpty();
      assertThat(check.distinct()).as("messages that ended").isEqualTo((int) sent);
    }
  }

  /** Messages come in at a steady rate until it is told to finish. */
  private static final class Fed implements AutoCloseable {
    private final Jar.Running producer;
    private final Feeder feeder;

    Fed(Path directory, String cluster) {
      producer =
          Jar.startFedInCrowd(
              directory,
              "producer",
              words(
                  "produce %s --rate 500 --key-regex %s --cluster %s -",
                  LevelGroup.TOPIC, Lines.KEY_REGEX, cluster));
      feeder = new Feeder(producer.process.getOutputStream(), 50);
    }

    /** All are acknowledged; how many there were. */
    long finish() {
      long sent = feeder.finish();
      Jar.Result ended = producer.await();
      assertThat(ended.status()).as(ended.toString()).isZero();
      return sent;
    }

    @Override
    public void close() {
      feeder.close();
      producer.close();
    }
  }
}
