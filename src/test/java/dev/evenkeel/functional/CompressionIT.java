package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lines that a producer compresses come out as they went in, whoever reads them. */
class CompressionIT extends OneNode {
  private static final int LINES = 2_000;
  private static final int SHARDS = 2;

  @Test
  void everyReaderGetsTheLinesOfACompressedTopic() throws IOException {
    everyReaderGetsThem("zstd");
  }

  @Test
  @Tag("full")
  void everyReaderGetsThemFromTheOtherCompressor() throws IOException {
    everyReaderGetsThem("lz4");
  }

  private void everyReaderGetsThem(String compression) throws IOException {
    String topic = "log-" + compression;
    node.createTopic(topic, SHARDS);
    List<String> lines = lines("order received");
    produce(topic, lines, compression);
    long bytes = Files.size(input(topic));
    JsonObject described = new JsonObject(node.read("/api/topics/" + topic));
    assertThat(described.getLong("bytes")).isBetween(1L, bytes / 3);

    assertThat(consumed(topic, "sharded")).containsExactlyInAnyOrderElementsOf(lines);
    assertThat(consumed(topic, "level")).containsExactlyInAnyOrderElementsOf(lines);
    assertThat(TopicMessages.read(node, topic, SHARDS))
        .extracting(message -> message.getString("payload"))
        .containsExactlyInAnyOrderElementsOf(lines);
  }

  @ParameterizedTest
  @Tag("full")
  @ValueSource(strings = {"lz4", "zstd"})
  void aLineOfACompressedTopicBecomesADeadLetter(String compression) throws IOException {
    String topic = "bad-" + compression;
    String group = "g-" + compression;
    node.createTopic(topic, 1);
    List<String> lines = new ArrayList<>(lines("fine").subList(0, 20));
    String poison = lines.get(7).replace("fine", "poison");
    lines.set(7, poison);
    produce(topic, lines, compression, "--spool", directory.resolve("spool-" + topic).toString());

    try (Jar.Running consumer =
        node.consume("c", topic, group, "--exec", "! grep poison", "--retry-delays", "100ms")) {
      node.awaitConsumed(group, lines.size());
      Wait.until("a dead letter", () -> deadLetters(group).size() == 1);
      assertThat(consumer.stop().status()).isZero();
    }
    JsonObject letter = deadLetters(group).getJsonObject(0);
    assertThat(letter.getString("payload")).isEqualTo(poison);
    assertThat(letter.getInteger("attempts")).isEqualTo(2);
    String place = topic + "/" + letter.getInteger("shard") + "/" + letter.getLong("offset");
    assertThat(node.admin("group", "dead-letters", "show", group, place).out()).contains(poison);
  }

  private static JsonArray deadLetters(String group) {
    return new JsonArray(
        node.admin("group", "dead-letters", "list", group, "--format", "json").out());
  }

  private static List<String> consumed(String topic, String mode) {
    Jar.Result result =
        node.consume(mode, topic, mode + "-" + topic, "--mode", mode, "--idle-exit", "3s").await();
    assertThat(result.status()).as(result.err()).isZero();
    return result
        .out()
        .lines()
        .map(
            line ->
                line.startsWith("{\"topic\"") ? new JsonObject(line).getString("payload") : line)
        .toList();
  }

  private static void produce(String topic, List<String> lines, String compression, String... more)
      throws IOException {
    Files.write(input(topic), lines);
    List<String> args = new ArrayList<>(List.of("--key-json", "customer"));
    args.addAll(List.of("--compression", compression));
    args.addAll(List.of(more));
    var result = node.produce("producer", input(topic), topic, args.toArray(String[]::new)).await();
    assertThat(result.status()).as(result.err()).isZero();
    assertThat(result.err()).contains("acked " + lines.size() + " of " + lines.size());
  }

  private static Path input(String topic) {
    return directory.resolve(topic + ".jsonl");
  }

  private static List<String> lines(String message) {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < LINES; i++) {
      lines.add(
          new JsonObject()
              .put("time", 1_700_000_000_000L + i)
              .put("level", "INFO")
              .put("customer", "c" + i % 50)
              .put("order", i)
              .put("message", message)
              .encode());
    }
    return lines;
  }
}
