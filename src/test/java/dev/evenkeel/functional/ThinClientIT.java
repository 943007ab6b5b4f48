package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.NodePorts;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The examples run with the client jar, and need neither Hazelcast nor Ratis nor RocksDB. */
class ThinClientIT extends OneNode {
  private static Jar.Running program(String name, String main, String... args) {
    return Program.start(directory, name, Program.clientClassPath(), main, args);
  }

  @Test
  void producesAndConsumesWithStateThatIsHandedOn() throws IOException {
    node.createTopic("thin", 3);
    Jar.Result produced = produce("produce-1", "thin", 2_000);
    assertThat(produced.out()).contains("acknowledged 2000");

    Jar.Result first = consume("consume-1", "thin", 2_000);
    assertThat(first.out()).contains("handled 2000");
    assertThat(totals(first)).hasSize(10).allSatisfy((who, n) -> assertThat(n).isEqualTo(200));

    // The second run goes on with the counts of the first.
    Path more = directory.resolve("more.txt");
    Files.write(
        more, IntStream.range(0, 1_000).mapToObj(i -> "customer-" + i % 10 + " more").toList());
    TopicMessages.send(node, "thin", more, "^(\\S+)");
    Jar.Result second = consume("consume-2", "thin", 1_000);
    assertThat(totals(second)).hasSize(10).allSatisfy((who, n) -> assertThat(n).isEqualTo(300));
  }

  private static Jar.Result produce(String name, String topic, int count) {
    return succeeded(
        program(name, "examples.ProduceExample", node.cluster(), topic, String.valueOf(count)));
  }

  private static Jar.Result consume(String name, String topic, int count) {
    return succeeded(
        program(
            name, "examples.ConsumeExample", node.cluster(), topic, "g", String.valueOf(count)));
  }

  private static Jar.Result succeeded(Jar.Running running) {
    Jar.Result result = running.await();
    assertThat(result.status()).as(result.toString()).isZero();
    return result;
  }

  /** Sums what was released: each customer's messages over all shards. */
  private static Map<String, Long> totals(Jar.Result result) {
    Map<String, Long> totals = new HashMap<>();
    for (String line : result.lines()) {
      if (line.startsWith("release ")) {
        JsonObject counts = new JsonObject(line.substring(line.indexOf('{')));
        counts.forEach(
            each -> totals.merge(each.getKey(), counts.getLong(each.getKey()), Long::sum));
      }
    }
    return totals;
  }

  @Test
  void streamsWithBackPressure() throws IOException {
    node.createTopic("lines", 2);
    node.createTopic("copy", 2);
    int count = 5_000;
    Path file = directory.resolve("lines.txt");
    Files.writeString(
        file,
        IntStream.range(0, count).mapToObj(i -> "line " + i).collect(Collectors.joining("\n"))
            + "\n");
    Jar.Result copied =
        succeeded(
            program(
                "stream",
                "examples.StreamExample",
                words("%s %s lines copy %s", node.cluster(), file, count)));
    assertThat(copied.out()).contains("copied " + count);
    assertThat(TopicMessages.read(node, "copy", 2).stream().map(each -> each.getString("payload")))
        .containsExactlyInAnyOrderElementsOf(Files.readAllLines(file));
  }

  @Test
  @Tag("full")
  void anOwnVertxFindsItsWayBackWhenAllNodesWereGone() {
    node.createTopic("own", 2);
    List<String> classPath = new ArrayList<>(Program.clientClassPath());
    classPath.addAll(Program.clusteredLibraries());
    String hazelcast = "127.0.0.1:" + NodePorts.hazelcast(node.port);
    try (Jar.Running own =
        Program.start(
            directory, "own", classPath, "examples.OwnVertxExample", hazelcast, "own", "owners")) {
      post("before");
      awaitLine(own, "before");
      node.kill();
      node.start();
      post("after");
      awaitLine(own, "after");
    }
  }

  private static void post(String payload) {
    var posted = node.post("/api/topics/own/messages", "{\"payload\":\"" + payload + "\"}");
    assertThat(posted.statusCode()).as(posted.body()).isEqualTo(200);
  }

  private static void awaitLine(Jar.Running running, String line) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(120))
        .failFast(() -> assertThat(running.process.isAlive()).as(running.err()).isTrue())
        .untilAsserted(
            () -> assertThat(List.of(running.out().split("\n"))).as(running.err()).contains(line));
  }
}
