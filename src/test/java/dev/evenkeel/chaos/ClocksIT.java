package dev.evenkeel.chaos;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.PrometheusText;
import dev.evenkeel.Unchecked;
import dev.evenkeel.functional.Jar;
import dev.evenkeel.functional.Node;
import dev.evenkeel.functional.Surroundings;
import dev.evenkeel.functional.Trio;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A wrong clock makes nothing due, old or absent. */
@Timeout(300)
@Tag("chaos")
class ClocksIT {
  private static final String TOPIC = "t";
  private static final int SHARDS = 6;

  @TempDir Path directory;
  private Path library;

  @BeforeEach
  void compile() {
    Native.obstacle().ifPresent(why -> Assumptions.abort("not here: " + why));
    library = Native.compile(directory.resolve("native")).faults();
  }

  /** Of a process whose clock is ahead by that. */
  private Surroundings ahead(String node, Duration time) {
    Path faults = directory.resolve("faults-of-" + node);
    ByteBuffer numbers = ByteBuffer.allocate(24).order(ByteOrder.nativeOrder());
    Unchecked.run(() -> Files.write(faults, numbers.putLong(0, time.toNanos()).array()));
    var variables = Map.of("LD_PRELOAD", library.toString(), "CHAOS_FAULTS", faults.toString());
    return new Surroundings(List.of(), variables);
  }

  private Node node(int number, Surroundings surroundings) {
    return Node.at(directory.resolve("n" + number), "127.0.77." + number, surroundings);
  }

  private static ConditionFactory eventually(String what) {
    return Awaitility.await(what)
        .atMost(Duration.ofSeconds(90))
        .pollInterval(Duration.ofMillis(100))
        .pollDelay(Duration.ZERO);
  }

  private static boolean leads(Node node) {
    JsonObject topic = new JsonObject(node.read("/api/topics/" + TOPIC));
    // A node that has not heard of the topic yet answers with an error.
    return topic.getJsonArray("shardList", new JsonArray()).stream()
        .anyMatch(shard -> Trio.id(node).equals(((JsonObject) shard).getString("leader")));
  }

  @Test
  void aLeaderWhoseClockIsAheadOfTheOthersDeliversNothingTooEarly() {
    Surroundings wrong = ahead("n1", Duration.ofHours(1));
    List<Node> nodes =
        List.of(node(1, wrong), node(2, Surroundings.NONE), node(3, Surroundings.NONE));
    try (Trio trio = new Trio(directory, nodes).start()) {
      trio.node(2).createTopic(TOPIC, SHARDS);
      eventually("the node with the wrong clock leads some shards")
          .until(() -> leads(trio.node(1)));
      long due = System.currentTimeMillis() + 8_000;
      for (int i = 0; i < 10 * SHARDS; i++) {
        String message = "{\"key\":\"k" + i + "\",\"payload\":\"p\",\"deliverAfterMs\":8000}";
        int status = trio.node(2).post("/api/topics/" + TOPIC + "/messages", message).statusCode();
        assertThat(status).isEqualTo(200);
      }
      eventually("all are delivered")
          .until(
              () -> {
                long written = trio.node(2).written(TOPIC);
                assertThat(written == 0 || System.currentTimeMillis() >= due)
                    .as("%s are delivered too early", written)
                    .isTrue();
                return written == 10 * SHARDS;
              });
      PrometheusText own = PrometheusText.parse(trio.node(1).read("/metrics"));
      assertThat(own.value("evenkeel_clock_correction_seconds")).isBetween(-3_601.0, -3_590.0);
      PrometheusText other = PrometheusText.parse(trio.node(2).read("/metrics"));
      assertThat(other.value("evenkeel_clock_correction_seconds")).isZero();
      assertThat(other.value("evenkeel_clock_skew_seconds", "node", "n1"))
          .isBetween(3_590.0, 3_610.0);
    }
  }

  @Test
  void aNodeJoinsWhileTheClockOfAnotherHasJumped() {
    List<Node> nodes =
        List.of(
            node(1, Surroundings.NONE),
            node(2, ahead("n2", Duration.ZERO)),
            node(3, Surroundings.NONE));
    try (Trio trio = new Trio(directory, nodes)) {
      // The oldest tells whoever joins what time it is.
      Node oldest = trio.begin(1);
      eventually("n1 is the oldest").ignoreExceptions().until(() -> lives(oldest));
      trio.begin(2);
      trio.begin(3);
      trio.nodes.forEach(Node::awaitReady);
      ahead("n2", Duration.ofMinutes(1));
      trio.node(3).kill();
      trio.node(3).start();
      trio.nodes.forEach(Node::awaitReady);
    }
  }

  private static boolean lives(Node node) {
    return node.get("/health/live").statusCode() == 200;
  }

  private static Jar.Result consume(Node node, String name, int messages) {
    return Jar.startIn(
            Surroundings.NONE,
            node.directory,
            name,
            Jar.USUAL_OPTIONS,
            words(
                "consume %s --group g --max %s --idle-exit 5s --cluster %s",
                TOPIC, messages, node.cluster()))
        .await();
  }

  private static List<String> payloads(int from, int to) {
    return IntStream.range(from, to).mapToObj(i -> "p" + i).toList();
  }

  @Test
  void aGroupWhoseNodeWasDownForEightDaysGoesOnWhereItStopped() {
    try (Node node = node(4, ahead("n4", Duration.ZERO))) {
      node.start();
      node.createTopic(TOPIC, 1);
      node.send(TOPIC, payloads(0, 30));
      assertThat(consume(node, "before", 20).lines()).isEqualTo(payloads(0, 20));
      node.kill();
      ahead("n4", Duration.ofDays(8));
      node.start();
      // Every five seconds the dispatcher looks whether a group is to be forgotten.
      Awaitility.await("the group stays")
          .during(Duration.ofSeconds(12))
          .atMost(Duration.ofSeconds(60))
          .until(() -> node.get("/api/groups/g").statusCode() == 200);
      assertThat(consume(node, "after", 30).lines()).isEqualTo(payloads(20, 30));
    }
  }
}
