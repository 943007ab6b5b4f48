package dev.evenkeel.chaos;

import dev.evenkeel.Wait;
import dev.evenkeel.functional.Node;
import dev.evenkeel.functional.Trio;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two nodes do not hear each other, and both hear the third. The older of the two expels the other
 * from the cluster, so that no program reaches it by the event bus; in the log it could lead on by
 * the third node.
 */
@Tag("chaos")
class BridgeIT {
  private static final int SHARDS = 6;
  private static final Duration LONG = Duration.ofSeconds(120);

  /** Until it is expelled, and has given its leaderships away, and far less than the cut lasts. */
  private static final Duration SOON = Duration.ofSeconds(50);

  @TempDir Path directory;

  @BeforeAll
  static void possible() {
    Network.assumePossible();
  }

  @Test
  void whatAnExpelledNodeLeadsGoesToOneThatProgramsReach() {
    try (Network network = Network.open();
        Trio trio = network.trio(directory)) {
      Node oldest = trio.begin(1);
      Awaitility.await("n1 is the oldest").atMost(LONG).until(() -> lives(oldest));
      trio.begin(2);
      trio.begin(3);
      trio.nodes.forEach(Node::awaitReady);
      oldest.createTopic("t", SHARDS);
      Wait.until(
          "each leads its share", 120, () -> leaders(oldest).equals(Set.of("n1", "n2", "n3")));
      network.cut("n1", "n2");
      long cutNanos = System.nanoTime();
      Awaitility.await("all shards take messages during the cut")
          .atMost(SOON)
          .until(() -> takesAll(oldest) && !leaders(oldest).contains("n2"));
      System.out.printf("all take messages %.1f s after%n", (System.nanoTime() - cutNanos) / 1e9);
      network.heal();
      Wait.until(
          "it leads its share again", 120, () -> leaders(oldest).equals(Set.of("n1", "n2", "n3")));
      Awaitility.await("all shards take messages").atMost(LONG).until(() -> takesAll(oldest));
    }
  }

  private static boolean lives(Node node) {
    try {
      return node.get("/health/live").statusCode() == 200;
    } catch (UncheckedIOException e) {
      return false;
    }
  }

  private static Set<String> leaders(Node asked) {
    JsonArray logs = new JsonObject(asked.read("/api/cluster")).getJsonArray("logs");
    return logs.stream()
        .map(log -> String.valueOf(((JsonObject) log).getString("leader")))
        .collect(Collectors.toSet());
  }

  /** These keys reach all shards. */
  private static boolean takesAll(Node node) {
    JsonArray messages = new JsonArray();
    for (int i = 0; i < 10 * SHARDS; i++) {
      messages.add(new JsonObject().put("key", "key " + i).put("payload", "x"));
    }
    return node.post("/api/topics/t/messages", messages.encode()).statusCode() == 200;
  }
}
