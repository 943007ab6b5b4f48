package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two of three nodes are gone: nothing is acknowledged, and all goes on when one is back. */
@Tag("full")
class MajorityLostIT {
  @TempDir Path directory;

  @Test
  @Timeout(900)
  void withoutAMajorityNothingIsAcknowledgedAndWithOneAllGoesOn() {
    try (Trio trio = new Trio(directory).start()) {
      Node last = trio.nodes.get(0);
      last.createTopic("events", 6);
      Jar.Running consumer = trio.consume("a", "events", "g");
      // It connects by n2 and n3, which will be the dead ones, and rides it out.
      Jar.Running producer = trio.produce("producer", "events", 500);
      long lines;
      try (Feeder feeder = new Feeder(producer.process.getOutputStream(), 100)) {
        Wait.until("messages flow", () -> consumer.out.toFile().length() > 20_000);
        trio.nodes.get(1).kill();
        trio.nodes.get(2).kill();
        var hasty = trio.produceLine("hasty", "events", "hasty 0", "--delivery-timeout", "5s");
        var posted = last.post("/api/topics/events/messages", "{\"payload\":\"posted 0\"}");
        assertThat(posted.statusCode()).as(posted.body()).isIn(503, 504);
        assertThat(new JsonObject(posted.body()).getString("message"))
            .as(posted.body())
            .contains("has no majority: 1 of 3 voters answers", "and 2 are needed. Start n")
            .doesNotContain("evenkeel.node");
        HttpResponse<String> groups = last.get("/api/groups");
        assertThat(groups.statusCode()).isEqualTo(503);
        assertThat(new JsonObject(groups.body()).getString("message"))
            .as(groups.body())
            .contains("has no majority: 1 of 3 voters answers", "and 2 are needed. Start n")
            .doesNotContain("evenkeel.node");
        Jar.Result gaveUp = hasty.await();
        assertThat(gaveUp.status()).as(gaveUp.toString()).isEqualTo(1);
        assertThat(gaveUp.err().strip().lines().toList())
            .as(gaveUp.err())
            .hasSizeBetween(1, 2)
            .noneMatch(line -> line.startsWith("acked 1"))
            .noneMatch(line -> line.contains("Exception"));
        Wait.until("it is not ready", () -> last.get("/health/ready").statusCode() == 503);
        assertThat(last.get("/health/live").statusCode()).isEqualTo(200);
        assertThat(producer.process.isAlive()).isTrue();
        assertThat(consumer.process.isAlive()).isTrue();

        trio.nodes.get(1).start();
        long before = consumer.out.toFile().length();
        Wait.until("service goes on", 150, () -> consumer.out.toFile().length() > before + 20_000);
        lines = feeder.finish();
      }
      producer.awaitAcked(lines);
      Wait.until(
          "all is consumed",
          120,
          () ->
              trio.nodes.get(1).shards("g").stream()
                  .allMatch(shard -> Long.valueOf(0).equals(shard.getLong("lag"))));
      assertThat(consumer.stop().status()).isZero();
      // What was given up may be there or not; what was acknowledged is.
      List<String> acknowledged =
          Lines.read(List.of(consumer.out)).get(0).stream()
              .filter(line -> !line.contains("\"hasty 0\"") && !line.contains("\"posted 0\""))
              .toList();
      new DeliveryCheck(List.of(acknowledged)).assertKeysComplete(lines);
      aNodeThatStartsAloneDoesNotDenyTheTopic(trio);
    }
  }

  private static void aNodeThatStartsAloneDoesNotDenyTheTopic(Trio trio) {
    trio.nodes.forEach(Node::kill);
    Node alone = trio.begin(1);
    HttpResponse<String> topic =
        Awaitility.await("it answers")
            .atMost(Duration.ofSeconds(60))
            .ignoreExceptions()
            .until(() -> alone.get("/api/topics/events"), Objects::nonNull);
    assertThat(topic.statusCode()).as(topic.body()).isEqualTo(503);
    Wait.until(
        "it says why",
        () -> {
          HttpResponse<String> topics = alone.get("/api/topics");
          assertThat(topics.statusCode()).as(topics.body()).isEqualTo(503);
          return topics.body().contains("does not know the topics yet");
        });
  }
}
