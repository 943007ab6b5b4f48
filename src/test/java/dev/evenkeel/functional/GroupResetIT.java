package dev.evenkeel.functional;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code group reset}: refused while consumers work, unless they are made to let go. */
class GroupResetIT extends OneNode {
  private static final int MESSAGES = 300;

  @Test
  @Timeout(300)
  void aRunningGroupIsResetByForceAloneAndAnIdleOneAnywhere() throws IOException {
    List<String> lines = new ArrayList<>();
    times(MESSAGES, i -> lines.add("line-" + i));
    node.createTopic("t", 2);
    TopicMessages.send(node, "t", Files.write(directory.resolve("input"), lines), "-(.*)");
    try (Jar.Running consumer = node.consume("m", "t", "g", "--format", "json")) {
      awaitLines(consumer, MESSAGES);
      node.awaitConsumed("g", MESSAGES);
      // Once by the jar, as its users do.
      Jar.Result refused =
          Jar.run(directory, "group", "reset", "g", "--to", "earliest", "--http", node.url());
      assertThat(refused.status()).isEqualTo(1);
      assertThat(refused.err().strip())
          .contains("'m' owns shard t/")
          .contains("force")
          .hasLineCount(1);
      assertThat(reset("g", "--to", "nowhere").status()).isEqualTo(2);
      assertThat(reset("g", "--to", "99999").err())
          .containsPattern("offset 99999: t/[01] has 0 to \\d+, the next message");
      node.admin("group", "reset", "g", "--to", "earliest", "--dry-run");
      eachShard("g", 2, shard -> assertThat(shard.getLong("lag")).isZero());

      node.admin("group", "reset", "g", "--to", "earliest", "--force");
      awaitLines(consumer, 2 * MESSAGES);
      node.awaitConsumed("g", MESSAGES);
      eachShard("g", 2, shard -> assertThat(shard.getLong("epoch")).isGreaterThanOrEqualTo(3));
      assertThat(consumer.stop().status()).isZero();
      assertEpochsGrow(consumer);
    }
    awaitNobody("g");
    String answer =
        node.admin("group", "reset", "g", "--to", "10", "--shard", "1", "--format", "json").out();
    JsonObject moved = new JsonObject(answer).getJsonArray("shards").getJsonObject(0);
    assertThat(moved.getString("state")).isEqualTo("DONE");
    assertThat(moved.getLong("to")).isEqualTo(10);
    long[] end = new long[2];
    eachShard(
        "g",
        2,
        shard -> {
          int number = shard.getInteger("shard");
          end[number] = shard.getLong("end");
          assertThat(shard.getLong("committed")).isEqualTo(number == 1 ? 10 : end[0]);
          assertThat(shard.getLong("lag")).isEqualTo(number == 1 ? end[1] - 10 : 0);
        });
    try (Jar.Running next = node.consume("n", "t", "g", "--format", "json")) {
      awaitLines(next, (int) end[1] - 10);
      node.awaitConsumed("g", MESSAGES);
      assertThat(next.stop().status()).isZero();
      assertThat(shards(next)).containsOnly(1);
      assertThat(offsets(next)).startsWith(10L);
      // One that was taken for lost may have been given some again.
      assertThat(new TreeSet<>(offsets(next)))
          .containsExactlyElementsOf(LongStream.range(10, end[1]).boxed().toList());
    }
    awaitNobody("g");
    node.admin("group", "reset", "g", "--to", "2020-01-01T00:00:00Z");
    eachShard("g", 2, shard -> assertThat(shard.getLong("committed")).isZero());
  }

  @Test
  @Tag("full")
  @Timeout(300)
  void aLostConsumerHasItsCrashLockTimeToComeBack() throws IOException {
    node.createTopic("lost", 1);
    Path input = Files.write(directory.resolve("three"), List.of("one", "two", "three"));
    TopicMessages.send(node, "lost", input, null);
    // A reset by force waits for it, and its caller for no more than 20 s.
    try (Jar.Running consumer = node.consume("m", "lost", "h", "--crash-lock-time", "15s")) {
      node.awaitConsumed("h", 3);
      consumer.kill();
    }
    awaitNoMembers("h");
    Jar.Result refused = reset("h", "--to", "earliest");
    assertThat(refused.status()).isEqualTo(1);
    assertThat(refused.err().strip())
        .containsPattern(
            "'m' was lost and has \\d+ s of its crash lock time left to give shard lost/0")
        .hasLineCount(1);
    long[] epoch = new long[1];
    eachShard("h", 1, shard -> epoch[0] = shard.getLong("epoch"));
    node.admin("group", "reset", "h", "--to", "earliest", "--force");
    eachShard(
        "h",
        1,
        shard -> {
          assertThat(shard.getLong("epoch")).isEqualTo(epoch[0] + 1);
          assertThat(shard.getLong("committed")).isZero();
        });
  }

  private static Jar.Result reset(String group, String... args) {
    List<String> all = new ArrayList<>(List.of("group", "reset", group));
    all.addAll(List.of(args));
    return node.tryAdmin(all.toArray(String[]::new));
  }

  /** Asks until all its figures are known, and each shard is as wanted. */
  private static void eachShard(String group, int shards, Consumer<JsonObject> wanted) {
    Wait.untilAsserted(
        "shards of " + group,
        30,
        () -> {
          List<JsonObject> all = node.shards(group);
          assertThat(all)
              .hasSize(shards)
              .allSatisfy(
                  shard -> {
                    assertThat(shard.getLong("end")).isNotNull();
                    assertThat(shard.getLong("committed")).isNotNull();
                  });
          all.forEach(wanted);
        });
  }

  private static void awaitNoMembers(String group) {
    Wait.until(
        "members of " + group,
        () -> {
          HttpResponse<String> answer = node.get("/api/groups/" + group);
          return answer.statusCode() == 200
              && new JsonObject(answer.body())
                  .getJsonArray("members", JsonArray.of("unknown"))
                  .isEmpty();
        });
  }

  /** A consumer that has ended has let go of its shards by the log; the dispatcher hears of it. */
  private static void awaitNobody(String group) {
    awaitNoMembers(group);
    eachShard(group, 2, shard -> assertThat(shard.getString("owner")).isNull());
  }

  private static void awaitLines(Jar.Running consumer, int lines) {
    Wait.until(lines + " lines", 90, () -> consumer.out().lines().count() >= lines);
  }

  /**
   * What a fenced epoch had begun does not go on after the next began, and the reset began each
   * shard anew. (One that was taken for lost goes on where it had committed.)
   */
  private static void assertEpochsGrow(Jar.Running consumer) {
    long[] epochs = new long[2];
    long[] next = new long[2];
    int[] fromStart = new int[2];
    consumer
        .out()
        .lines()
        .map(JsonObject::new)
        .forEach(
            message -> {
              int shard = message.getInteger("shard");
              long epoch = message.getLong("epoch");
              long offset = message.getLong("offset");
              assertThat(epoch).isGreaterThanOrEqualTo(epochs[shard]);
              if (epoch > epochs[shard]) {
                assertThat(offset).isLessThanOrEqualTo(next[shard]);
                next[shard] = offset;
                fromStart[shard] += offset == 0 ? 1 : 0;
              }
              epochs[shard] = epoch;
              assertThat(offset).isEqualTo(next[shard]++);
            });
    assertThat(fromStart[0]).isGreaterThanOrEqualTo(2);
    assertThat(fromStart[1]).isGreaterThanOrEqualTo(2);
  }

  private static List<Long> offsets(Jar.Running consumer) {
    return consumer.out().lines().map(line -> new JsonObject(line).getLong("offset")).toList();
  }

  private static List<Integer> shards(Jar.Running consumer) {
    return consumer.out().lines().map(line -> new JsonObject(line).getInteger("shard")).toList();
  }
}
