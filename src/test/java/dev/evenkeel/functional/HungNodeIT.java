package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionEvaluationListener;
import org.awaitility.core.EvaluatedCondition;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A node hangs: its process is stopped, and the kernel goes on to take connections for it. The
 * others count it as gone, stay together, and take it in again.
 */
@Tag("full")
class HungNodeIT {
  private static final List<String> IDS = List.of("n1", "n2", "n3");

  private static final String MESSAGES = "/api/topics/events/messages";

  /** How often the race is run: whether it is lost depends on the moment. */
  private static final int RACES = Integer.getInteger("evenkeel.hungNodeRaces", 1);

  /** From when the hung node goes on until all shards are served. */
  private static final Duration SERVED_MAX =
      Duration.ofSeconds(Integer.getInteger("evenkeel.servedSecondsMax", 60));

  private static final int SHARDS = 12;

  private static final String HOST = "127.0.0.1";

  @TempDir Path directory;

  @Test
  @Timeout(900)
  void theOthersStayTogetherWhicheverHangs() {
    try (Trio trio = new Trio(directory).start()) {
      trio.nodes.get(0).createTopic("events", 6);
      List<Jar.Running> producers =
          List.of(trio.produce("a", "events", 1_000), trio.produce("b", "events", 1_000));
      for (Node hung : trio.nodes) {
        String id = Trio.id(hung);
        hung.process().mayPause();
        Map<Node, Integer> told =
            trio.nodes.stream()
                .collect(Collectors.toMap(node -> node, node -> node.process().err().length()));
        Trio.signal(hung, "STOP");
        for (Node other : trio.others(hung)) {
          await(
              Trio.id(other) + " counts " + id + " as gone, and has the others",
              () -> assertThat(alive(other)).isEqualTo(aliveBut(id)));
        }
        for (Node other : trio.others(hung)) {
          await(
              Trio.id(other) + " takes messages, and knows how many there are",
              () -> {
                assertThat(other.post(MESSAGES, "{\"payload\":\"x\"}").statusCode()).isEqualTo(200);
                assertThat(json(other, "/api/topics/events").getLong("messages")).isPositive();
              });
        }
        Trio.signal(hung, "CONT");
        for (Node node : trio.nodes) {
          await(
              Trio.id(node) + " has all again",
              () -> assertThat(alive(node)).isEqualTo(aliveBut("nobody")));
        }
        trio.awaitCaughtUp(hung);
        for (Node other : trio.others(hung)) {
          assertThat(other.process().err().substring(told.get(other)))
              .as(Trio.id(other) + " fell apart from the third node when " + id + " hung")
              .doesNotContain("is merging");
        }
      }
      assertThat(producers).allMatch(producer -> producer.process.isAlive());
    }
  }

  /**
   * The oldest member of the cluster hangs, which also dispatches. Meanwhile another node dies and
   * comes back. The two do not see that of each other, and must find each other all the same.
   */
  @Test
  @Timeout(3_600)
  void nodesReachEachOtherAfterOneHungWhileAnotherCameBack() throws Exception {
    for (int race = 1; race <= RACES; race++) {
      long millis = race(directory.resolve("race-" + race));
      System.err.printf("HungNodeIT: race %d of %d: served after %d ms%n", race, RACES, millis);
    }
  }

  private static long race(Path directory) throws Exception {
    try (Trio trio = new Trio(directory)) {
      Node hung = startWithOldestAsDispatcher(trio);
      hung.createTopic("events", SHARDS);
      List<Jar.Running> members =
          List.of(trio.consume("a", "events", "g"), trio.consume("b", "events", "g"));
      await("all shards have owners", () -> assertServed(hung));

      hung.process().mayPause();
      Node killed = trio.others(hung).get(0);
      // These times are the scenario: what has been noticed when the next thing happens.
      Trio.signal(hung, "STOP");
      TimeUnit.SECONDS.sleep(5);
      killed.kill();
      TimeUnit.SECONDS.sleep(4);
      killed.begin();
      TimeUnit.SECONDS.sleep(6);
      Trio.signal(hung, "CONT");
      long begun = System.nanoTime();

      Awaitility.await("every node serves all shards, and reaches all others")
          .ignoreExceptions()
          .atMost(SERVED_MAX)
          .conditionEvaluationListener(new Delays(begun))
          .untilAsserted(() -> trio.nodes.forEach(HungNodeIT::assertServed));
      long servedMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
      trio.nodes.forEach(HungNodeIT::send);
      await("what is sent now is consumed", () -> assertThat(hung.lag("g")).isZero());
      assertThat(members).allMatch(member -> member.process.isAlive());
      return servedMillis;
    }
  }

  /** Prints what the waiting is for, whenever that changes. */
  private record Delays(long begunNanos, AtomicReference<String> last)
      implements ConditionEvaluationListener<Object> {
    Delays(long begunNanos) {
      this(begunNanos, new AtomicReference<>());
    }

    @Override
    public void conditionEvaluated(EvaluatedCondition<Object> condition) {
      String told = condition.isSatisfied() ? "all is served" : condition.getDescription();
      if (!told.equals(last.getAndSet(told))) {
        System.err.printf(
            "HungNodeIT: after %d ms: %s%n",
            TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begunNanos),
            told.strip().replaceAll("\\s+", " "));
      }
    }
  }

  /** The first node starts before the others and stays; the others leave until it dispatches. */
  private static Node startWithOldestAsDispatcher(Trio trio) {
    Node oldest = trio.begin(1);
    await("the first one is a member", () -> new Socket(HOST, oldest.hazelcastPort()).close());
    trio.begin(2);
    trio.begin(3);
    trio.nodes.forEach(node -> node.awaitReady(trio.nodes));
    for (Node now = trio.dispatcher(oldest); now != oldest; now = trio.dispatcher(oldest)) {
      now.stop();
      now.begin();
      now.awaitReady();
      await("all are there", () -> assertThat(alive(oldest)).isEqualTo(aliveBut("nobody")));
    }
    return oldest;
  }

  private static void assertServed(Node asked) {
    assertThat(alive(asked)).isEqualTo(aliveBut("nobody"));
    assertThat(asked.shards("g"))
        .hasSize(SHARDS)
        .allMatch(shard -> List.of("a", "b").contains(String.valueOf(shard.getString("owner"))))
        .allMatch(shard -> shard.getString("state").equals("OWNED"));
    for (int shard = 0; shard < SHARDS; shard++) {
      assertThat(asked.get(MESSAGES + "?limit=1&shard=" + shard).statusCode()).isEqualTo(200);
    }
  }

  private static void send(Node node) {
    for (int i = 0; i < SHARDS; i++) {
      assertThat(node.post(MESSAGES, "{\"payload\":\"x\"}").statusCode()).isEqualTo(200);
    }
  }

  /** By id, as the node answers: true, false if the cluster has no such member. */
  private static Map<String, Boolean> alive(Node node) {
    JsonArray nodes = json(node, "/api/cluster").getJsonArray("nodes");
    return nodes.stream()
        .map(JsonObject.class::cast)
        .collect(
            Collectors.toMap(
                each -> each.getString("node"), each -> each.getBoolean("alive", false)));
  }

  private static JsonObject json(Node node, String path) {
    return new JsonObject(node.get(path).body());
  }

  private static Map<String, Boolean> aliveBut(String gone) {
    return IDS.stream().collect(Collectors.toMap(id -> id, id -> !id.equals(gone)));
  }

  private static void await(String what, ThrowingRunnable assertion) {
    Awaitility.await(what)
        .ignoreExceptions()
        .atMost(Duration.ofSeconds(150))
        .untilAsserted(assertion);
  }
}
