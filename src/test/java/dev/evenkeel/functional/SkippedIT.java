package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A group that was away while a limit of the topic dropped messages hears what it will never get:
 * in the list of its shards, in the metrics, and in the log of the member that takes the shard.
 */
class SkippedIT extends OneNode {
  private static JsonObject shard() {
    return node.shards("away").get(0);
  }

  @Test
  @Timeout(180)
  void aGroupThatWasAwayHearsWhatItMissed() {
    node.createTopic("short", 1);
    node.send("short", IntStream.range(0, 20).mapToObj(i -> "message " + i).toList());
    try (Jar.Running first = node.consume("first", "short", "away", "--max", "5")) {
      assertThat(first.await().status()).isZero();
    }
    assertThat(shard().getLong("committed")).isEqualTo(5);
    assertThat(shard().containsKey("skipped")).isFalse();

    node.admin("topic", "configure", "short", "--max-age", "1s");
    Wait.until("the limit drops the rest", () -> shard().containsKey("skipped"));
    JsonObject skipped = new JsonObject().put("first", 5).put("last", 19).put("total", 15);
    assertThat(shard().getJsonObject("skipped")).isEqualTo(skipped);
    assertThat(node.admin("group", "describe", "away").out())
        .contains("FREE, skipped 15 messages, offsets 5 to 19");
    Wait.until(
        "the metric follows",
        30,
        () ->
            node.read("/metrics")
                .contains("evenkeel_group_messages_skipped{group=\"away\",topic=\"short\"} 15.0"));

    node.admin("topic", "configure", "short", "--max-age", "off");
    node.send("short", List.of("after"));
    try (Jar.Running back = node.consume("back", "short", "away", "--max", "1")) {
      Jar.Result result = back.await();
      assertThat(result.status()).isZero();
      assertThat(result.out()).contains("after");
      assertThat(result.err())
          .contains(
              "retention dropped messages before the group had consumed them: 15 messages, offsets"
                  + " 5 to 19");
    }
    assertThat(shard().getJsonObject("skipped")).as("still").isEqualTo(skipped);

    node.admin("group", "reset", "away", "--to", "latest");
    assertThat(shard().containsKey("skipped")).as("a reset ends it").isFalse();
  }
}
