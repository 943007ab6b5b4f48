package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.Set;
import java.util.TreeSet;

/**
 * The dead letters of group {@code g}, whose members make three attempts that end with status 7.
 */
final class DeadLetters {
  static final int ATTEMPTS = 3;

  private DeadLetters() {}

  static JsonArray list(Node node) {
    return new JsonArray(
        node.admin("group", "dead-letters", "list", "g", "--format", "json").out());
  }

  /** How commands and HTTP name it. */
  static String name(JsonObject letter) {
    return letter.getString("topic")
        + "/"
        + letter.getInteger("shard")
        + "/"
        + letter.getLong("offset");
  }

  /** The payloads, each of which is there once and tells what became of it. */
  static Set<String> payloads(JsonArray letters, String beforeKey) {
    Set<String> dead = new TreeSet<>();
    for (Object each : letters) {
      JsonObject letter = (JsonObject) each;
      assertThat(letter.fieldNames())
          .containsExactlyInAnyOrder(
              words("topic shard offset key payload attempts error firstFailed lastFailed"));
      assertThat(letter.getInteger("attempts")).as(letter.encode()).isEqualTo(ATTEMPTS);
      assertThat(letter.getString("error")).contains("exit status 7");
      String payload = letter.getString("payload");
      assertThat(payload).startsWith(beforeKey + letter.getString("key") + " ");
      assertThat(time(letter, "lastFailed")).isAfter(time(letter, "firstFailed"));
      assertThat(dead.add(payload)).as("once").isTrue();
    }
    return dead;
  }

  /** Waits until a message that was replayed has failed as often again. */
  static void awaitDeadAgain(Node node, JsonObject before) {
    String path = "/api/groups/g/dead-letters/" + name(before);
    Wait.untilAsserted(
        "it has died again",
        () -> {
          JsonObject now = new JsonObject(node.get(path).body());
          assertThat(now.getInteger("attempts")).isEqualTo(ATTEMPTS);
          assertThat(time(now, "firstFailed")).isAfter(time(before, "lastFailed"));
        });
  }

  private static Instant time(JsonObject letter, String field) {
    return Instant.parse(letter.getString(field));
  }
}
