package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.TestPorts;
import dev.evenkeel.Wait;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Programs that are told to stop, killed or held up, and what becomes of their messages. */
@Tag("full")
class StopAndPauseIT extends OneNode {
  private static final String[] GROUP_KEYS = {
    "group",
    "mode",
    "assignor",
    "status",
    "paused",
    "members",
    "shards",
    "level",
    "dedup",
    "singleton",
    "rates",
    "failures"
  };

  @Test
  void aLineThatIsTypedIsSentAtOnceAndASignalEndsTheProducerInGoodOrder() throws IOException {
    node.createTopic("typed", 3);
    try (Jar.Running producer =
        Jar.startFed(
            node.directory, "typing", "produce", "typed", "--cluster", node.cluster(), "-")) {
      OutputStream keyboard = producer.process.getOutputStream();
      for (int line = 1; line <= 2; line++) {
        long expected = line;
        keyboard.write("hello\n".getBytes(StandardCharsets.US_ASCII));
        keyboard.flush();
        await("the line is there", () -> TopicMessages.count(node, "typed") == expected);
      }
      keyboard.write("unfinished".getBytes(StandardCharsets.US_ASCII));
      keyboard.flush();
      // Not destroy(), which would also end the input, and with it the line.
      signal(producer, "TERM");
      Jar.Result stopped = producer.await();
      assertThat(stopped.err().strip()).isEqualTo("acked 2 of 2");
      assertThat(stopped.status()).isZero();
    }
  }

  @Test
  void aProducerThatIsStoppedUnderLoadHasAcknowledgedAllItRead() {
    node.createTopic("load", 3);
    try (Jar.Running producer =
            Jar.startFed(
                node.directory, "loading", "produce", "load", "--cluster", node.cluster(), "-");
        Feeder feeder = new Feeder(producer.process.getOutputStream(), 10)) {
      await("some messages", () -> TopicMessages.count(node, "load") > 10_000);
      Jar.Result stopped = producer.stop();
      await("its messages", () -> TopicMessages.count(node, "load") >= 0);
      long acked = TopicMessages.count(node, "load");
      assertThat(stopped.err().strip()).isEqualTo("acked " + acked + " of " + acked);
      assertThat(stopped.status()).isZero();
    }
  }

  @Test
  void messagesOfAKilledAndOfAHeldUpConsumerGoToOthersOnceAnEpoch() throws IOException {
    node.createTopic("shared", 6);
    Jar.Running killed = consumer("killed");
    Jar.Running held = consumer("held").mayPause();
    Jar.Running third = consumer("third");
    await("two shards each", () -> owners().equals(Map.of("killed", 2L, "held", 2L, "third", 2L)));
    try (Jar.Running producer =
            Jar.startFed(
                node.directory,
                "sharing",
                words(
                    "produce shared --key-regex %s --rate 2000 --cluster %s -",
                    Lines.KEY_REGEX, node.cluster()));
        Feeder feeder = new Feeder(producer.process.getOutputStream(), 50)) {
      await("all print", () -> printed(killed) && printed(held) && printed(third));
      killed.kill();
      await("the killed one's shards move", () -> owners().equals(Map.of("held", 3L, "third", 3L)));
      signal(held, "STOP");
      await("the held one's shards move", () -> owners().equals(Map.of("third", 6L)));
      signal(held, "CONT");
      await("they share again", () -> owners().equals(Map.of("held", 3L, "third", 3L)));
      await("a report", () -> group().containsKey("mode"));
      JsonObject report = group();
      assertThat(report.fieldNames()).containsExactlyInAnyOrder(GROUP_KEYS);
      assertThat(report.getJsonObject("level").fieldNames())
          .containsExactlyInAnyOrder(
              "range", "strategy", "gap", "round", "holder", "heldMs", "setAside", "bars");
      long lines = feeder.finish();
      assertThat(producer.await().status()).isZero();
      node.awaitConsumed("sharers", lines);
      assertThat(held.stop().status()).isZero();
      assertThat(third.stop().status()).isZero();
      List<List<String>> outputs =
          Lines.read(List.of(killed.out, held.out, third.out)).stream()
              .map(output -> output.stream().filter(line -> line.endsWith("}")).toList())
              .toList();
      new DeliveryCheck(outputs).assertEachKeyCompleteAndInOrder(lines);
    } finally {
      List.of(killed, held, third).forEach(each -> each.close());
    }
  }

  @Test
  void aCommandThatFailsIsToldAndTriedAgain() {
    node.createTopic("failing", 1);
    assertThat(node.post("/api/topics/failing/messages", "{\"payload\":\"x\"}").statusCode())
        .isEqualTo(200);
    try (Jar.Running consumer =
        node.consume(
            "failer",
            "failing",
            "failers",
            words("--max 1 --exec %s", "echo $EVENKEEL_ATTEMPT; [ $EVENKEEL_ATTEMPT = 2 ]"))) {
      Jar.Result result = consumer.await();
      assertThat(result.lines()).containsExactly("1", "2");
      assertThat(result.err().strip()).contains("failing/0 offset 0 attempt 1").hasLineCount(1);
      assertThat(result.status()).isZero();
    }
  }

  @Test
  void aDataDirectoryThatIsAFileAndRolesThatCannotWorkAreRefused() {
    Path file = Lines.write(directory.resolve("file"), 1, 1);
    String port = String.valueOf(TestPorts.take(4));
    Jar.Result onFile =
        Jar.run(directory, "serve", "--port", port, "--http-port", "0", "--data", file.toString());
    assertThat(onFile.status()).isEqualTo(1);
    assertThat(onFile.err().strip()).contains("is a file", "--data").hasLineCount(1);
    Jar.Result alone = Jar.run(directory, "serve", "--port", port, "--roles", "broker,web");
    assertThat(alone.status()).isEqualTo(2);
    assertThat(alone.err().strip()).contains("dispatcher").hasLineCount(1);
  }

  private static Jar.Running consumer(String name) {
    return node.consume(name, "shared", "sharers", "--format", "json");
  }

  private static boolean printed(Jar.Running consumer) {
    return consumer.out.toFile().length() > 10_000;
  }

  private static void signal(Jar.Running program, String name) throws IOException {
    Process kill =
        new ProcessBuilder("kill", "-" + name, String.valueOf(program.process.pid())).start();
    assertThat(kill.onExit().join().exitValue()).isZero();
  }

  private static JsonObject group() {
    var answer = node.get("/api/groups/sharers");
    return answer.statusCode() == 200
        ? new JsonObject(answer.body())
        : new JsonObject().put("shards", new JsonArray());
  }

  private static List<JsonObject> shards(JsonObject group) {
    return group.getJsonArray("shards").stream().map(JsonObject.class::cast).toList();
  }

  /** How many shards each has for good. */
  private static Map<String, Long> owners() {
    return shards(group()).stream()
        .filter(shard -> "OWNED".equals(shard.getString("state")))
        .collect(Collectors.groupingBy(shard -> shard.getString("owner"), Collectors.counting()));
  }

  private static void await(String what, Callable<Boolean> condition) {
    Wait.until(what, 90, condition);
  }
}
