package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
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
  private static final int LINES = 20_000;
  private static final int FAST = 1_000_000;

  @TempDir Path directory;

  @Test
  @Timeout(900)
  void each_acknowledgement_keeps_its_promise() {
    try (Trio trio = new Trio(directory).start()) {
      trio.nodes.get(0).createTopic("events", 1);
      Path bulk = Lines.write(directory.resolve("bulk"), LINES, 50);
      assertAcked(trio.produceFile("bulk-all", "events", bulk, "--acks", "all").await(), LINES);
      // They join before a node is held up, and leave after it.
      Jar.Running majority = trio.produce("majority", "events", FAST);
      Jar.Running none = trio.produce("none", "events", FAST, "--acks", "none");
      Jar.Running hasty =
          trio.produce("hasty", "events", FAST, "--acks", "all", "--acks-timeout", "2s");
      Jar.Running patient =
          trio.produce("patient", "events", FAST, "--acks", "all", "--acks-timeout", "5m");
      List<Jar.Running> producers = List.of(majority, none, hasty, patient);
      producers.forEach(producer -> feed(producer, "user-first 0\n"));
      awaitMessages(trio.nodes.get(0), LINES + 4L);
      Node leader = leader(trio);
      // One that is neither held up nor leads.
      Node held = trio.others(leader).get(0);
      Node asked = trio.others(leader).get(1);
      posted(asked, "all", "before 0", 200);

      producers.forEach(producer -> producer.mayPause());
      held.process().mayPause();
      Trio.signal(held, "STOP");
      posted(asked, "majority", "majority 0", 200);
      JsonObject sent = posted(asked, "none", "none 0", 202);
      assertThat(sent.containsKey("offset")).isTrue();
      assertThat(sent.getValue("offset")).isNull();
      feed(hasty, "user-hasty 0\n");
      feed(patient, "user-patient 0\n");
      feed(majority, read(bulk));
      feed(none, read(bulk));
      JsonObject lacking = posted(asked, "all", "all 0", 202);
      assertThat(lacking.getJsonArray("missing")).isEqualTo(new JsonArray().add(Trio.id(held)));
      assertThat(lacking.getLong("offset")).isPositive();
      Awaitility.await("it is told who is missing")
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () ->
                  assertThat(hasty.err())
                      .contains("line 2: it is in the log at shard 0 offset")
                      .contains("not known to be on the disk of " + Trio.id(held)));
      awaitMessages(leader, 3L * LINES + 10);
      assertThat(patient.process.isAlive()).isTrue();
      Trio.signal(held, "CONT");

      assertAcked(ended(patient), 2);
      assertAcked(ended(majority), LINES + 1);
      assertAcked(ended(none), LINES + 1);
      Jar.Result gaveUp = ended(hasty);
      assertThat(gaveUp.status()).isEqualTo(1);
      assertThat(gaveUp.err().strip()).endsWith("acked 1 of 2");
      posted(leader(trio), "all", "after 0", 200);

      trio.nodes.forEach(Node::kill);
      trio.nodes.forEach(Node::begin);
      trio.nodes.forEach(Node::awaitReady);
      awaitMessages(trio.nodes.get(0), 3L * LINES + 11);
      Jar.Running consumer =
          trio.consume("c", "events", "g", "--max", String.valueOf(3L * LINES + 11));
      assertThat(consumer.await().status()).isZero();
      List<String> lines = Lines.read(List.of(consumer.out)).get(0);
      for (String text :
          List.of(
              "before 0",
              "majority 0",
              "none 0",
              "all 0",
              "user-hasty 0",
              "user-patient 0",
              "after 0")) {
        assertThat(lines).filteredOn(line -> line.contains("\"" + text + "\"")).hasSize(1);
      }
    }
  }

  private static void feed(Jar.Running producer, String lines) {
    try {
      OutputStream input = producer.process.getOutputStream();
      input.write(lines.getBytes(StandardCharsets.US_ASCII));
      input.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Jar.Result ended(Jar.Running producer) {
    try {
      producer.process.getOutputStream().close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return producer.await();
  }

  private static void awaitMessages(Node node, long count) {
    Awaitility.await(count + " messages")
        .atMost(Duration.ofSeconds(90))
        .ignoreExceptions()
        .untilAsserted(() -> assertThat(topic(node).getLong("messages")).isEqualTo(count));
  }

  private static void assertAcked(Jar.Result produced, int lines) {
    assertThat(produced.err().strip())
        .as(produced.toString())
        .endsWith("acked " + lines + " of " + lines);
    assertThat(produced.status()).isZero();
  }

  private static JsonObject posted(Node node, String acks, String payload, int status) {
    HttpResponse<String> answer =
        node.post(
            "/api/topics/events/messages?acks=" + acks,
            new JsonObject().put("payload", payload).encode());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    return new JsonObject(answer.body());
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
