package dev.evenkeel.functional;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Unchecked;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Tag;
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
  void eachComesOnceAndNotBeforeItIsDueThoughALeaderIsKilled() {
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
      eventually("all are counted")
          .until(() -> Long.valueOf(200).equals(topic(trio.node(1)).getLong("delayed")));
      AtomicReference<String> leads = new AtomicReference<>();
      eventually("a leader")
          .until(
              () -> {
                List<JsonObject> shards = shards(trio.node(1));
                leads.set(shards.isEmpty() ? null : shards.get(0).getString("leader"));
                return leads.get() != null;
              });
      Node leader = trio.node(leads.get());
      leader.kill();
      assertThat(System.currentTimeMillis()).as("killed before they are due").isLessThan(first);
      Node other = trio.others(leader).get(0);
      eventually("all have their offsets").until(() -> sum(other, "end") == 200);
      assertThat(stored(other)).as("each once").isEqualTo(expected);
      // A member that was taken for dead for a while handles some again.
      eventually("all are handled")
          .untilAsserted(() -> assertThat(payloads(handled)).isEqualTo(expected.keySet()));
      for (String line : linesOf(handled)) {
        String[] words = line.split(" ");
        assertThat(Long.parseLong(words[0]))
            .as("not before %s", line)
            .isGreaterThanOrEqualTo(Long.parseLong(words[1]));
      }
      eventually("none waits").until(() -> Long.valueOf(0).equals(topic(other).getLong("delayed")));
    }
  }

  /** Of batches with many messages, and while the leader of a shard is killed. */
  @Tag("full")
  @Test
  @Timeout(600)
  void whatWasCancelledNeverComesAndTheOthersDo() throws Exception {
    try (Trio trio = new Trio(directory).start()) {
      trio.node(1).createTopic(TOPIC, 3);
      eventually("all nodes read cancellations")
          .until(() -> !sendFor(trio.node(1), "probe", 1, 86_400_000).get(0).isEmpty());
      long due = System.currentTimeMillis() + 40_000;
      List<String> ids = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        ids.addAll(sendFor(trio.node(1), "batch" + i, 40, due - System.currentTimeMillis()));
      }
      Node leader = trio.node(shards(trio.node(1)).get(0).getString("leader"));
      Node other = trio.others(leader).get(0);
      Set<Integer> cancelled = new TreeSet<>();
      Set<Integer> unsure = new TreeSet<>();
      for (int i = 0; i < ids.size(); i += 2) {
        if (i == 100) {
          leader.kill();
        }
        (cancel(other, ids.get(i)) ? cancelled : unsure).add(i);
      }
      assertThat(System.currentTimeMillis()).as("cancelled before they are due").isLessThan(due);
      assertThat(cancelled.size() + unsure.size()).isEqualTo(200);
      assertThat(unsure).as("one was on its way").hasSizeLessThan(3);
      eventually("the others have their offsets")
          .until(() -> sum(other, "end") >= 200 && topic(other).getLong("delayed") == 1);
      Map<String, Integer> stored = stored(other);
      for (int i = 0; i < ids.size(); i++) {
        Integer times = stored.get("batch" + i / 40 + " " + i % 40);
        if (!unsure.contains(i)) {
          assertThat(times).as("message %s", i).isEqualTo(cancelled.contains(i) ? null : 1);
        }
      }
    }
  }

  /** Sends messages of one key, which are due together. Returns their ids; "" for none. */
  private static List<String> sendFor(Node node, String key, int count, long delay) {
    long due = System.currentTimeMillis() + delay;
    JsonArray messages = new JsonArray();
    for (int i = 0; i < count; i++) {
      messages.add(
          new JsonObject().put("key", key).put("payload", key + " " + i).put("deliverAt", due));
    }
    var answer = node.post("/api/topics/" + TOPIC + "/messages", messages.encode());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return new JsonArray(answer.body())
        .stream().map(each -> ((JsonObject) each).getString("delayedId", "")).toList();
  }

  /** Cancels until there is an answer. False: it was cancelled by a try without an answer. */
  private static boolean cancel(Node node, String id) {
    boolean unsure = false;
    while (true) {
      HttpResponse<String> answer = node.delete("/api/topics/" + TOPIC + "/delayed/" + id);
      if (answer.statusCode() == 200) {
        return true;
      }
      String error = new JsonObject(answer.body()).getString("error");
      if (unsure && error.equals("UNKNOWN_MESSAGE")) {
        return false;
      }
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(503);
      unsure |= error.equals("INDETERMINATE");
    }
  }

  @Tag("full")
  @Test
  @Timeout(600)
  void whatWasDueWhileTheOnlyNodeWasDownComesAfterItsStart() {
    Path input = Lines.write(directory.resolve("input"), 300, 20);
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic(TOPIC, 3);
      String spool = directory.resolve("spool").toString();
      long before = System.currentTimeMillis();
      Jar.Result sent =
          node.produce("p", input, TOPIC, "--deliver-after", "20s", "--spool", spool).await();
      assertThat(sent.status()).as(sent.toString()).isZero();
      assertThat(sent.err().strip()).endsWith("acked 300 of 300");
      JsonObject topic = topic(node);
      assertThat(topic.getLong("delayed")).isEqualTo(300);
      assertThat(topic.getLong("nextDueMillis")).isGreaterThanOrEqualTo(before + 20_000);
      node.kill();
      long last = System.currentTimeMillis() + 20_000;
      eventually("all are overdue").until(() -> System.currentTimeMillis() > last);
      node.start();
      var consumed = node.consume("c", TOPIC, "g", "--max", "300", "--idle-exit", "60s").await();
      assertThat(consumed.status()).as(consumed.err()).isZero();
      assertThat(consumed.lines())
          .containsExactlyInAnyOrderElementsOf(Lines.read(List.of(input)).get(0));
      assertThat(sum(node, "end")).isEqualTo(300);
    }
  }

  /** More bytes than the node has memory for wait, and the node goes on. */
  @Test
  @Timeout(1200)
  void whatWaitsCostsDiskAndNotMemory() throws IOException {
    Path input = directory.resolve("input");
    try (var out = Files.newBufferedWriter(input)) {
      times(DELAYED, i -> out.write("x".repeat(490) + String.format("%010d%n", i)));
    }
    List<String> small = new ArrayList<>(Jar.USUAL_OPTIONS);
    small.addAll(List.of("-Xmx224m", "-XX:+ExitOnOutOfMemoryError"));
    try (Node node = new Node(directory.resolve("small")).inJvm(small).start()) {
      node.createTopic(TOPIC, 6);
      Jar.Result sent = node.produce("producer", input, TOPIC, "--deliver-after", "1d").await();
      assertThat(sent.err().strip()).endsWith("acked " + DELAYED + " of " + DELAYED);
      assertThat(topic(node).getLong("delayed")).isEqualTo(DELAYED);
      assertThat(node.admin("topic", "describe", TOPIC).out())
          .containsPattern("delayed +" + DELAYED + ", the next");
      assertThat(node.process().process.isAlive()).isTrue();
      node.admin("topic", "delete", TOPIC);
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
    var answer = node.post("/api/topics/" + TOPIC + "/messages", messages.encode());
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
      var path = "/api/topics/" + TOPIC + "/messages?limit=1000&shard=" + shard.getInteger("shard");
      for (Object message : new JsonArray(node.read(path))) {
        payloads.merge(((JsonObject) message).getString("payload"), 1, Integer::sum);
      }
    }
    return new HashMap<>(payloads);
  }

  private static JsonObject topic(Node node) {
    return new JsonObject(node.read("/api/topics/" + TOPIC));
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

  /** Which payloads were handled, each after the time at which it was. */
  private static Set<String> payloads(Path handled) {
    Set<String> payloads = new TreeSet<>();
    linesOf(handled).forEach(line -> payloads.add(line.substring(line.indexOf(' ') + 1)));
    return payloads;
  }

  private static List<String> linesOf(Path file) {
    return Unchecked.get(() -> Files.exists(file) ? Files.readAllLines(file) : List.of());
  }
}
