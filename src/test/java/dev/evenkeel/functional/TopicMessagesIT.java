package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.Wait;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** People see the messages of a topic, with their headers, and consume none by that. */
class TopicMessagesIT {
  private static final String JSON = "--format=json";

  @TempDir static Path directory;
  @Closing private static Node node;

  @BeforeAll
  static void start() {
    node = new Node(directory.resolve("node")).start();
  }

  private static List<String> messages(String... args) {
    List<String> all = new ArrayList<>(List.of("topic", "messages"));
    all.addAll(List.of(args));
    all.addAll(List.of("--http", node.url()));
    Jar.Result result = Jar.run(directory, all.toArray(String[]::new));
    assertThat(result.status()).as(result.toString()).isZero();
    return result.lines();
  }

  @Test
  void theyAreWhatConsumersGetAndNothingIsCommitted() throws IOException {
    node.admin("topic", "create", "model", "--shards=3", "--retention=2d");
    node.admin("topic", "create", "orders", "--copy-from=model", "--max-age=30d");
    node.admin("topic", "configure", "model", "--copy-from=orders", "--max-shard-bytes=1GiB");
    assertThat(node.admin("topic", "list").out())
        .containsPattern("model +3 +0 +0 +2d +30d +1GiB")
        .containsPattern("orders +3 +0 +0 +2d +30d +off");
    Path input = directory.resolve("orders.txt");
    Files.write(input, List.of("a 1", "b 2", "c 3", "a 4"));
    Jar.Result produced =
        node.produce(
                "p",
                input,
                "orders",
                words("--key-regex=^(.) %s --header=E=", "--header=trace-id=x=\"7\""))
            .await();
    assertThat(produced.status()).as(produced.toString()).isZero();
    List<JsonObject> consumed =
        new ArrayList<>(
            node.consume("c", "orders", "g", JSON, "--max=3").await().lines().stream()
                .map(JsonObject::new)
                .toList());
    List<JsonObject> before = node.shards("g");

    List<JsonObject> seen = messages("orders").stream().map(JsonObject::new).toList();
    assertThat(seen).hasSize(4);
    assertThat(seen)
        .allSatisfy(
            each ->
                assertThat(each.getJsonObject("headers").encode())
                    .isEqualTo("{\"trace-id\":\"x=\\\"7\\\"\",\"E\":\"\"}"));
    consumed.forEach(
        each -> {
          assertThat(each.getString("member")).isEqualTo("c");
          each.putNull("member").putNull("epoch").putNull("attempt");
        });
    assertThat(seen).containsAll(consumed);
    assertThat(messages("orders", "--key=a", "--format=text")).containsExactly("a 1", "a 4");
    String at = String.valueOf(seen.get(3).getLong("timestamp") + 1);
    assertThat(messages("orders", "--at", at)).isEmpty();
    assertThat(node.shards("g"))
        .extracting(each -> each.getLong("committed"))
        .isEqualTo(before.stream().map(each -> each.getLong("committed")).toList());

    var command = "echo \"$EVENKEEL_HEADER_TRACE_ID/${EVENKEEL_HEADER_E-none}/$EVENKEEL_LENGTH\"";
    Jar.Result run = node.consume("e", "orders", "e", "--max=1", "--exec", command).await();
    assertThat(run.out()).isEqualTo("x=\"7\"//3\n");
  }

  @Test
  @Tag("full")
  void whoFollowsSeesWhatComesAlsoAfterARestart() {
    node.createTopic("news", 2);
    node.send("news", List.of("one"));
    String[] follow = {
      "topic", "messages", "news", "--follow", "--format=text", "--http", node.url()
    };
    try (Jar.Running following = Jar.start(directory, "follow", follow)) {
      awaitOutput(following, "one\n");
      node.stop();
      awaitError(following, "tries again");
      node.start();
      node.send("news", List.of("two"));
      awaitOutput(following, "one\ntwo\n");
      Jar.Result stopped = following.stop();
      assertThat(stopped.status()).as(stopped.toString()).isZero();
      assertThat(stopped.err().lines()).hasSize(1);
    }
  }

  private static void awaitOutput(Jar.Running running, String output) {
    Wait.until(output, () -> running.out().equals(output));
  }

  private static void awaitError(Jar.Running running, String text) {
    Wait.until(text, () -> running.err().contains(text));
  }

  @Test
  void aPipeThatBreaksEndsIt() throws Exception {
    node.createTopic("many", 1);
    node.send("many", IntStream.range(0, 2_000).mapToObj(i -> i + "x".repeat(1_000)).toList());
    String command =
        "('%s' -jar '%s' topic messages many --follow --format text --http %s; echo $? >&2) | head -n 1"
            .formatted(Jar.JAVA, Jar.JAR, node.url());
    try (Jar.Running piped =
        Jar.launch(List.of("sh", "-c", command), Surroundings.NONE, directory, "piped")) {
      Jar.Result ended = piped.await();
      assertThat(ended.out()).startsWith("0xxx").hasLineCount(1);
      assertThat(ended.err()).isEqualTo("0\n");
    }
  }
}
