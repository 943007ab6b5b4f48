package dev.evenkeel.functional;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code group reset --force} in mode level, in the middle of the work: whatever members had done
 * before and have in hand, all messages from the new place on are handled after it, by all members,
 * also if the dispatcher is killed just then.
 */
@Tag("full")
class LevelResetIT {
  private static final int MESSAGES = 300;

  /** Messages of each shard before the first one that takes long. */
  private static final int QUICK = 10;

  /** More than all that are quick, so that nobody is kept waiting for having done most of them. */
  private static final int RANGE = 30;

  private static final int PARALLEL = 4;
  private static final Set<String> MEMBERS = Set.of("a", "b", "c");

  @TempDir Path directory;
  private Path runs;

  /** As long as this file is there, what is not quick does not end. */
  private Path hold;

  /** A message that was begun. */
  private record Run(long epoch, int shard, long offset, String member) {
    static Run parse(String line) {
      String[] words = line.split(" ");
      return new Run(
          Long.parseLong(words[0]), Integer.parseInt(words[1]), Long.parseLong(words[2]), words[3]);
    }

    String place() {
      return shard + "/" + offset;
    }
  }

  private List<Run> runs() {
    try {
      String text = Files.exists(runs) ? Files.readString(runs) : "";
      return text.substring(0, text.lastIndexOf('\n') + 1).lines().map(Run::parse).toList();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Those that began after the epochs of the shards. */
  private List<Run> runsAfter(List<Long> epochs) {
    return runs().stream().filter(run -> run.epoch() > epochs.get(run.shard())).toList();
  }

  private static Set<String> places(List<Run> runs) {
    return runs.stream().map(Run::place).collect(Collectors.toSet());
  }

  @Test
  @Timeout(400)
  void membersAtWorkBeginAgainAtTheNewPlaceAndEndWithNothingLeft() throws IOException {
    runs = directory.resolve("runs");
    hold = Files.createFile(directory.resolve("hold"));
    List<String> lines = new ArrayList<>();
    times(MESSAGES, i -> lines.add("line-" + i));
    Path input = Files.write(directory.resolve("input"), lines);
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("t", 2);
      List<Jar.Running> members = new ArrayList<>();
      try {
        MEMBERS.forEach(name -> members.add(consume(node, name)));
        await("all three take part", () -> bars(node) == MEMBERS.size());
        assertThat(node.produce("producer", input, "t", "--key-regex", "-(.*)").await().status())
            .isZero();
        Wait.untilAsserted(
            "all are at work",
            90,
            () ->
                assertThat(slow(runs()))
                    .as("%s of %s", runs(), node.get("/api/groups/g").body())
                    .hasSize(MEMBERS.size() * PARALLEL));
        HttpResponse<String> refused = node.post("/api/groups/g/offsets", "{\"to\":\"earliest\"}");
        assertThat(refused.statusCode()).isEqualTo(409);
        assertThat(refused.body()).contains("'dispatcher@").contains("owns shard t/");
        final List<Long> before = resetToEarliest(node);
        assertThat(places(runs())).as("in the middle of the work").hasSizeLessThan(MESSAGES);
        Files.delete(hold);
        await("it begins again", () -> runsAfter(before).size() >= 5);
        // What its dealer knew is gone, and members know what they had finished before the reset.
        node.kill();
        node.start();
        await(
            "all of it was begun after the reset",
            () -> places(runsAfter(before)).size() == MESSAGES);
        node.awaitConsumed("g", MESSAGES);
        assertThat(members(runsAfter(before))).isEqualTo(MEMBERS);

        aShardAlone(node);
        members.forEach(Jar.Running::stopWell);
      } finally {
        members.forEach(Jar.Running::close);
      }
      node.awaitConsumed("g", MESSAGES);
    }
  }

  private static int bars(Node node) {
    HttpResponse<String> answer = node.get("/api/groups/g");
    JsonObject level =
        answer.statusCode() == 200 ? new JsonObject(answer.body()).getJsonObject("level") : null;
    return level == null || level.getJsonArray("bars") == null
        ? 0
        : level.getJsonArray("bars").size();
  }

  /** Returns the epochs of the shards before it. */
  private static List<Long> resetToEarliest(Node node) {
    List<Long> epochs = epochs(node);
    var answer = node.post("/api/groups/g/offsets", "{\"to\":\"earliest\",\"force\":true}");
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    assertThat(new JsonObject(answer.body()).getJsonArray("shards"))
        .hasSize(2)
        .allMatch(shard -> "DONE".equals(((JsonObject) shard).getString("state")));
    return epochs;
  }

  private static List<Long> epochs(Node node) {
    return node.shards("g").stream().map(shard -> shard.getLong("epoch")).toList();
  }

  /** Of a group at rest: exactly what lies behind the new place comes again. */
  private void aShardAlone(Node node) {
    List<Long> before = epochs(node);
    long end = node.shards("g").get(1).getLong("end");
    node.admin("group", "reset", "g", "--to", "10", "--shard", "1", "--force");
    Set<String> expected = new HashSet<>();
    for (long offset = 10; offset < end; offset++) {
      expected.add("1/" + offset);
    }
    await("the rest of the shard comes again", () -> places(runsAfter(before)).equals(expected));
    node.awaitConsumed("g", MESSAGES);
    assertThat(runsAfter(before)).as("once each").hasSameSizeAs(expected);
    assertThat(members(runsAfter(before))).isEqualTo(MEMBERS);
    JsonObject group = new JsonObject(node.get("/api/groups/g").body());
    assertThat(group.getJsonObject("failures").getLong("deadLetters")).isZero();
  }

  private static List<Run> slow(List<Run> runs) {
    return runs.stream().filter(run -> run.offset() >= QUICK).toList();
  }

  private static Set<String> members(List<Run> runs) {
    return runs.stream().map(Run::member).collect(Collectors.toSet());
  }

  private Jar.Running consume(Node node, String name) {
    String work =
        "echo $EVENKEEL_EPOCH $EVENKEEL_SHARD $EVENKEEL_OFFSET $EVENKEEL_MEMBER >> "
            + runs
            + "; [ $EVENKEEL_OFFSET -lt "
            + QUICK
            + " ] || while [ -e "
            + hold
            + " ]; do sleep 0.5; done";
    List<String> args =
        new ArrayList<>(List.of("--mode", "level", "--range", String.valueOf(RANGE)));
    // Whoever waits for long is not set aside: what it has in hand would be dealt again for that.
    args.addAll(List.of("--stall-timeout", "5m", "--parallel", String.valueOf(PARALLEL)));
    args.addAll(List.of("--exec", work));
    return node.consume(name, "t", "g", args.toArray(String[]::new));
  }

  private static void await(String what, Callable<Boolean> condition) {
    Wait.until(what, 90, condition);
  }
}
