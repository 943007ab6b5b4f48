package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Unchecked;
import dev.evenkeel.Wait;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.OutputStream;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What each kind of acknowledgement waits for, over three processes, and that nothing acknowledged
 * is lost when all of them are killed at once.
 */
class AcksIT {
  /** Not more: who is held up for a minute ends, and that is not the question here. */
  private static final int LINES = Integer.getInteger("evenkeel.rounds", 1) > 1 ? 20_000 : 5_000;

  private static final int FAST = 1_000_000;

  @TempDir Path directory;

  /** What was sent over HTTP. */
  private final List<String> posted = new ArrayList<>();

  @Test
  @Timeout(900)
  void eachAcknowledgementKeepsItsPromise() {
    try (Trio trio = new Trio(directory).start()) {
      trio.nodes.get(0).createTopic("events", 1);
      Path bulk = Lines.write(directory.resolve("bulk"), LINES, 50);
      // They join before a node is held up, and leave after it.
      Jar.Running majority = trio.produce("majority", "events", FAST);
      Jar.Running none = trio.produce("none", "events", FAST, "--acks", "none");
      var hasty = trio.produce("hasty", "events", FAST, "--acks", "all", "--acks-timeout", "15s");
      Jar.Running patient =
          trio.produce("patient", "events", FAST, "--acks", "all", "--acks-timeout", "5m");
      List<Jar.Running> producers = List.of(majority, none, hasty, patient);
      producers.forEach(producer -> feed(producer, "user-first 0\n"));
      feed(patient, read(bulk));
      awaitMessages(trio.nodes.get(0), LINES + 4L);
      Node leader = leader(trio);
      // One that is neither held up nor leads.
      Node held = trio.others(leader).get(0);
      Node asked = trio.others(leader).get(1);
      String before = postedEverywhere(asked, "before");

      producers.forEach(producer -> producer.mayPause());
      held.process().mayPause();
      Trio.signal(held, "STOP");
      feed(hasty, "user-hasty 0\n");
      feed(patient, "user-patient 0\n");
      feed(majority, read(bulk));
      feed(none, read(bulk));
      post(asked, "majority", "majority 0", 200);
      JsonObject sent = post(asked, "none", "none 0", 202);
      assertThat(sent.containsKey("offset")).isTrue();
      assertThat(sent.getValue("offset")).isNull();
      String all = postedWithout(held, asked);
      Wait.untilAsserted(
          "the error names the missing node",
          () ->
              assertThat(hasty.err())
                  .contains("line 2: it is in the log at shard 0 offset")
                  .containsPattern("not known to be on the disk of .*" + Trio.id(held)));
      awaitMessages(leader, 3L * LINES + 6 + posted.size());
      assertThat(patient.process.isAlive()).isTrue();
      Trio.signal(held, "CONT");

      assertAcked(ended(patient), LINES + 2);
      assertAcked(ended(majority), LINES + 1);
      assertAcked(ended(none), LINES + 1);
      Jar.Result gaveUp = ended(hasty);
      assertThat(gaveUp.status()).isEqualTo(1);
      assertThat(gaveUp.err().strip()).endsWith("acked 1 of 2");
      String after = postedEverywhere(leader(trio), "after");

      long count = 3L * LINES + 6 + posted.size();
      trio.nodes.forEach(Node::kill);
      trio.nodes.forEach(Node::begin);
      trio.nodes.forEach(Node::awaitReady);
      awaitMessages(trio.nodes.get(0), count);
      Jar.Running consumer = trio.consume("c", "events", "g", "--max", String.valueOf(count));
      assertThat(consumer.await().status()).isZero();
      List<String> lines = Lines.read(List.of(consumer.out)).get(0);
      assertThat(posted).contains(before, "majority 0", "none 0", all, after);
      List<String> once = new ArrayList<>(posted);
      once.addAll(List.of("user-hasty 0", "user-patient 0"));
      for (String text : once) {
        assertThat(lines).filteredOn(line -> line.contains("\"" + text + "\"")).hasSize(1);
      }
    }
  }

  private static void feed(Jar.Running producer, String lines) {
    Unchecked.run(
        () -> {
          OutputStream input = producer.process.getOutputStream();
          input.write(lines.getBytes(StandardCharsets.US_ASCII));
          input.flush();
        });
  }

  private static String read(Path file) {
    return Unchecked.get(() -> Files.readString(file));
  }

  private static Jar.Result ended(Jar.Running producer) {
    Unchecked.run(() -> producer.process.getOutputStream().close());
    return producer.await();
  }

  private static void awaitMessages(Node node, long count) {
    Awaitility.await(count + " messages")
        .atMost(Duration.ofSeconds(150))
        .ignoreExceptions()
        .untilAsserted(() -> assertThat(topic(node).getLong("messages")).isEqualTo(count));
  }

  private static void assertAcked(Jar.Result produced, int lines) {
    assertThat(produced.err().strip())
        .as(produced.toString())
        .endsWith("acked " + lines + " of " + lines);
    assertThat(produced.status()).isZero();
  }

  private JsonObject post(Node node, String acks, String payload, int status) {
    HttpResponse<String> answer = post(node, acks, payload);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    return new JsonObject(answer.body());
  }

  private HttpResponse<String> post(Node node, String acks, String payload) {
    posted.add(payload);
    return node.post(
        "/api/topics/events/messages?acks=" + acks,
        new JsonObject().put("payload", payload).encode());
  }

  /** Posts until every replica has one in time: on a busy machine one may be late. */
  private String postedEverywhere(Node node, String name) {
    for (int i = 0; ; i++) {
      String payload = name + " " + i;
      HttpResponse<String> answer = post(node, "all", payload);
      assertThat(answer.statusCode()).as(answer.body()).isIn(200, 202);
      if (answer.statusCode() == 200) {
        return payload;
      }
      assertThat(i).as(answer.body()).isLessThan(5);
    }
  }

  /** Posts until just one replica lacks one, which is told: another may be late, too. */
  private String postedWithout(Node held, Node node) {
    for (int i = 0; ; i++) {
      String payload = "all " + i;
      JsonObject lacking = post(node, "all", payload, 202);
      assertThat(lacking.getLong("offset")).isPositive();
      JsonArray missing = lacking.getJsonArray("missing");
      assertThat(missing).contains(Trio.id(held));
      if (missing.size() == 1) {
        return payload;
      }
      assertThat(i).as(missing.encode()).isLessThan(3);
    }
  }

  private static JsonObject topic(Node node) {
    return new JsonObject(node.get("/api/topics/events").body());
  }

  private static Node leader(Trio trio) {
    return Awaitility.await("a leader")
        .atMost(Duration.ofSeconds(60))
        .ignoreExceptions()
        .until(
            () ->
                trio.node(
                    topic(trio.nodes.get(0))
                        .getJsonArray("shardList")
                        .getJsonObject(0)
                        .getString("leader")),
            node -> true);
  }
}
