package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Delayed messages come when they are due, each once and not before, whoever is killed. */
class DelayIT {
  /** {@code -Pfull}: a million. */
  private static final int DELAYED = Integer.getInteger("evenkeel.delayed", 20_000);

  private static final String TOPIC = "reminders";

  @TempDir Path directory;

  private static ConditionFactory eventually(String what) {
    return Awaitility.await(what)
        .atMost(Duration.ofMinutes(3))
        .pollInterval(Duration.ofMillis(200))
        .pollDelay(Duration.ZERO);
  }

  @Test
  @Timeout(900)
  void each_comes_once_and_not_before_it_is_due_though_a_leader_is_killed() {
    try (Trio trio = new Trio(directory).start()) {
      trio.node(1).createTopic(TOPIC, 6);
      Path handled = directory.resolve("handled");
      // A line for each message: when it was handled, and when it was due.
      trio.consume(
          "c", TOPIC, "g", "--exec", "line=$(cat); echo \"$(date +%s%3N) $line\" >> " + handled);
      eventually("the consumer has its shards")
          .until(
              () ->
                  trio.node(1).shards("g").stream()
                          .filter(shard -> "OWNED".equals(shard.getString("state")))
                          .count()
                      == 6);
      long first = System.currentTimeMillis() + 25_000;
      Map<String, Integer> expected = sendDue(trio.node(1), first, 200);
      assertThat(topic(trio.node(1)).getLong("delayed")).isEqualTo(200);
      Node leader = trio.node(shards(trio.node(1)).get(0).getString("leader"));
      leader.kill();
      assertThat(System.currentTimeMillis()).as("killed before they are due").isLessThan(first);
      Node other = trio.others(leader).get(0);
      eventually("all have their offsets").until(() -> sum(other, "end") == 200);
      assertThat(stored(other)).as("each once").isEqualTo(expected);
      eventually("all are handled").until(() -> linesOf(handled).size() >= 200);
      Map<String, Integer> payloads = new TreeMap<>();
      for (String line : linesOf(handled)) {
        String[] words = line.split(" ");
        assertThat(Long.parseLong(words[0]))
            .as("not before %s", line)
            .isGreaterThanOrEqualTo(Long.parseLong(words[1]));
        payloads.merge(words[1] + " " + words[2], 1, Integer::sum);
      }
      assertThat(payloads.keySet()).isEqualTo(expected.keySet());
      assertThat(topic(other).getLong("delayed")).isZero();
    }
  }

  @Test
  @Timeout(600)
  void what_was_due_while_the_only_node_was_down_comes_after_its_start() {
    Path input = Lines.write(directory.resolve("input"), 300, 20);
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic(TOPIC, 3);
      String spool = directory.resolve("spool").toString();
      long before = System.currentTimeMillis();
      Jar.Result sent =
          node.produce("p", input, TOPIC, "--deliver-after", "15s", "--spool", spool).await();
      assertThat(sent.status()).as(sent.toString()).isZero();
      assertThat(sent.err().strip()).endsWith("acked 300 of 300");
      JsonObject topic = topic(node);
      assertThat(topic.getLong("delayed")).isEqualTo(300);
      assertThat(topic.getLong("nextDueMillis")).isGreaterThanOrEqualTo(before + 15_000);
      assertThat(node.admin("topic", "describe", TOPIC).out()).contains("delayed    300, the next");
      node.kill();
      long last = System.currentTimeMillis() + 15_000;
      eventually("all are overdue").until(() -> System.currentTimeMillis() > last);
      node.start();
      Jar.Result consumed =
          node.consume("c", TOPIC, "g", "--max", "300", "--idle-exit", "60s").await();
      assertThat(consumed.status()).as(consumed.err()).isZero();
      assertThat(consumed.lines())
          .containsExactlyInAnyOrderElementsOf(Lines.read(List.of(input)).get(0));
      assertThat(sum(node, "end")).isEqualTo(300);
    }
  }

  /** More bytes than the node has memory for wait, and the node goes on. */
  @Test
  @Timeout(1200)
  void what_waits_costs_disk_and_not_memory() throws IOException {
    Path input = directory.resolve("input");
    try (var out = Files.newBufferedWriter(input)) {
      for (int i = 0; i < DELAYED; i++) {
        out.write("x".repeat(490) + String.format("%010d%n", i));
      }
    }
    int port = FreePorts.OF_TESTS.take(3);
    int http = FreePorts.OF_TESTS.take(1);
    try (Jar.Running server =
        Jar.startWith(
            directory,
            "small",
            List.of("-Xmx224m", "-XX:+ExitOnOutOfMemoryError"),
            "serve",
            "--port",
            String.valueOf(port),
            "--http-port",
            String.valueOf(http),
            "--data",
            directory.resolve("data").toString())) {
      eventually("ready").until(() -> server.out().contains("evenkeel ready"));
      String url = "http://127.0.0.1:" + http;
      assertThat(
              Jar.run(directory, "topic", "create", TOPIC, "--shards", "6", "--http", url).status())
          .isZero();
      Jar.Result sent =
          Jar.start(
                  directory,
                  "producer",
                  "produce",
                  TOPIC,
                  "--deliver-after",
                  "1d",
                  "--cluster",
                  "127.0.0.1:" + port,
                  input.toString())
              .await();
      assertThat(sent.err().strip()).endsWith("acked " + DELAYED + " of " + DELAYED);
      Jar.Result described =
          Jar.run(directory, "topic", "describe", TOPIC, "--format", "json", "--http", url);
      assertThat(new JsonObject(described.out()).getLong("delayed")).isEqualTo(DELAYED);
      assertThat(server.process.isAlive()).isTrue();
      assertThat(Jar.run(directory, "topic", "delete", TOPIC, "--http", url).status()).isZero();
    }
  }

  /** Payloads {@code DUE NUMBER}, due over five seconds; each with how often it was sent. */
  private static Map<String, Integer> sendDue(Node node, long first, int count) {
    Map<String, Integer> payloads = new TreeMap<>();
    JsonArray messages = new JsonArray();
    for (int i = 0; i < count; i++) {
      long due = first + i * 5_000L / count;
      String payload = due + " " + i;
      payloads.put(payload, 1);
      messages.add(
          new JsonObject().put("key", "k" + i % 20).put("payload", payload).put("deliverAt", due));
    }
    HttpResponse<String> answer =
        node.post("/api/topics/" + TOPIC + "/messages", messages.encode());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    for (Object each : new JsonArray(answer.body())) {
      JsonObject position = (JsonObject) each;
      assertThat(position.containsKey("offset")).isTrue();
      assertThat(position.getValue("offset")).as("none yet").isNull();
      assertThat(position.getLong("deliverAt")).isBetween(first, first + 5_000);
    }
    return payloads;
  }

  /** What lies in the shards, each payload with how often it is there. */
  private static Map<String, Integer> stored(Node node) {
    Map<String, Integer> payloads = new TreeMap<>();
    for (JsonObject shard : shards(node)) {
      String path =
          "/api/topics/" + TOPIC + "/messages?limit=1000&shard=" + shard.getInteger("shard");
      for (Object message : new JsonArray(node.get(path).body())) {
        payloads.merge(((JsonObject) message).getString("payload"), 1, Integer::sum);
      }
    }
    return new HashMap<>(payloads);
  }

  private static JsonObject topic(Node node) {
    return new JsonObject(node.get("/api/topics/" + TOPIC).body());
  }

  private static List<JsonObject> shards(Node node) {
    List<JsonObject> shards = new ArrayList<>();
    JsonArray list = topic(node).getJsonArray("shardList", new JsonArray());
    list.forEach(shard -> shards.add((JsonObject) shard));
    return shards;
  }

  private static long sum(Node node, String field) {
    return shards(node).stream()
        .map(shard -> shard.getLong(field))
        .mapToLong(figure -> figure == null ? 0 : figure)
        .sum();
  }

  private static List<String> linesOf(Path file) {
    try {
      return Files.exists(file) ? Files.readAllLines(file) : List.of();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
