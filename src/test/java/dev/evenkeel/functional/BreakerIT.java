package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What handlers need is gone for a while; and what {@code --on-failure} says becomes of a message.
 */
@Tag("full")
class BreakerIT extends OneNode {
  private static final int OUTAGE_SECONDS = Integer.getInteger("evenkeel.outageSeconds", 16);

  private static ConditionFactory await(String what) {
    return Awaitility.await(what)
        .atMost(Duration.ofSeconds(120))
        .pollInterval(Duration.ofMillis(200));
  }

  private static List<String> messages(int from, int to) {
    return IntStream.range(from, to).mapToObj(i -> "m" + i).toList();
  }

  /** What is done; some may be done twice, by a consumer that was taken for dead for a while. */
  private static Set<String> lines(Path file) throws IOException {
    return Files.exists(file) ? new TreeSet<>(Files.readAllLines(file)) : Set.of();
  }

  private static JsonObject group(String group) {
    return new JsonObject(node.read("/api/groups/" + group));
  }

  private static List<String> breakers() {
    List<String> breakers = new ArrayList<>();
    for (Object each : group("g").getJsonArray("members", new JsonArray())) {
      breakers.add(((JsonObject) each).getString("breaker"));
    }
    return breakers;
  }

  private static JsonArray letters(String group) {
    return new JsonArray(node.read("/api/groups/" + group + "/dead-letters"));
  }

  @Test
  @Timeout(600)
  void anOutageBurnsNoAttempts() throws IOException {
    Path done = directory.resolve("done");
    Path gone = directory.resolve("gone");
    String work =
        "read -r line; [ -n \"$line\" ] || exit 9; [ ! -e "
            + gone
            + " ] || exit 3; echo \"$line\" >> "
            + done;
    node.createTopic("t", 4);
    try (Jar.Running a = consume("a", work);
        Jar.Running b = consume("b", work)) {
      await("both are there").until(() -> breakers().size() == 2);
      // By keys, so that both get some: without keys a batch goes to one shard.
      node.sendByKey("t", messages(0, 100));
      await("it works").until(() -> lines(done).size() == 100);
      Files.createFile(gone);
      node.sendByKey("t", messages(100, 500));
      await("both breakers are open")
          .untilAsserted(() -> assertThat(breakers()).containsExactly("open", "open"));
      assertThat(node.admin("group", "describe", "g").out())
          .contains("breaker   open: most messages fail at a, b");
      Awaitility.await("they stay open, and nothing dies")
          .atMost(Duration.ofSeconds(OUTAGE_SECONDS + 60))
          .pollInterval(Duration.ofMillis(500))
          .during(Duration.ofSeconds(OUTAGE_SECONDS))
          .until(() -> breakers().equals(List.of("open", "open")) && letters("g").isEmpty());
      Files.delete(gone);
      node.awaitConsumed("g", 500);
      await("everything is done, and nothing waits")
          .untilAsserted(
              () -> {
                assertThat(lines(done)).hasSize(500);
                assertThat(group("g").getJsonObject("failures"))
                    .isEqualTo(
                        new JsonObject()
                            .put("retriesWaiting", 0)
                            .put("parked", 0)
                            .put("shardsWaiting", 0)
                            .put("deadLetters", 0));
                assertThat(breakers()).containsExactly("closed", "closed");
              });
      assertThat(a.stop().status()).isZero();
      assertThat(b.stop().status()).isZero();
      assertThat(a.err()).contains("most messages fail", "messages succeed again");
    }
  }

  /**
   * Its attempts are so far apart that twenty messages are tried for the first time before one is
   * for the third: only then can the breaker open in time. All would have failed for the last time
   * before the outage ends.
   */
  private static Jar.Running consume(String member, String work) {
    return node.consume(
        member,
        "t",
        "g",
        words("--order none --parallel 4 --retry-delays 5s,5s --verbose --exec %s", work));
  }

  @Test
  @Timeout(600)
  void aConsumerStopsAtAMessageOrPutsItAsideAtOnce() throws IOException {
    Path runs = directory.resolve("runs");
    String work =
        "read -r line; echo \"$EVENKEEL_ATTEMPT $line\" >> " + runs + "; [ \"$line\" != m5 ]";
    node.createTopic("one", 1);
    node.send("one", messages(0, 10));
    Jar.Result stopped =
        node.consume("a", "one", "h", "--on-failure=stop", "--retry-delays=100ms", "--exec", work)
            .await();
    assertThat(stopped.status()).as(stopped.toString()).isEqualTo(1);
    assertThat(stopped.err())
        .contains("attempt 2 at offset 5 failed, the consumer ends")
        .contains("'" + work + "' ended with exit status 1");
    assertThat(Files.readAllLines(runs))
        .containsExactly("1 m0", "1 m1", "1 m2", "1 m3", "1 m4", "1 m5", "2 m5");
    assertThat(letters("h")).isEmpty();
    assertThat(node.shards("h").get(0).getLong("committed")).isEqualTo(5);

    try (Jar.Running on =
        node.consume("b", "one", "h", "--on-failure=dead-letter", "--exec", work)) {
      node.awaitConsumed("h", 10);
      assertThat(letters("h")).hasSize(1);
      JsonObject letter = letters("h").getJsonObject(0);
      assertThat(letter.getString("payload")).isEqualTo("m5");
      assertThat(letter.getLong("offset")).isEqualTo(5);
      assertThat(on.stop().status()).isZero();
    }
    assertThat(Files.readAllLines(runs).subList(7, 12))
        .containsExactly("2 m5", "1 m6", "1 m7", "1 m8", "1 m9");
  }
}
