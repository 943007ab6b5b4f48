package dev.evenkeel.chaos;

import dev.evenkeel.functional.Jar;
import dev.evenkeel.functional.Node;
import dev.evenkeel.functional.Program;
import dev.evenkeel.functional.Trio;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Connections that were cut work again: how soon do those who were cut off. */
@Timeout(900)
@Tag("chaos")
class HealIT {
  private static final int SHARDS = 6;
  private static final String GROUP = "g";
  private static final int CLIENTS = 9;
  private static final long FRESH_MILLIS = 3_000;

  /** Parts of a cluster look for each other every few seconds. */
  private static final double SOON_SECONDS = 25;

  @TempDir Path directory;

  @BeforeAll
  static void possible() {
    Network.assumePossible();
  }

  @Test
  void partsFindTogetherHoweverManyClientsWereCutOff() {
    try (Network network = Network.open();
        Trio trio = network.trio(directory)) {
      Node oldest = trio.begin(1);
      eventually("n1 is the oldest").until(() -> oldest.get("/health/live").statusCode() == 200);
      trio.begin(2);
      trio.begin(3);
      trio.nodes.forEach(Node::awaitReady);
      oldest.createTopic("t", SHARDS);
      try (Jar.Running crowd = crowd(network.host("c1"), trio)) {
        eventually("all clients have joined").until(() -> crowd.out().contains("joined"));
        eventually("they are heard").until(() -> heard(trio.node(2)) == CLIENTS);
        for (String lost : List.of("n1", "c1")) {
          network.cut(lost, "n2");
          network.cut(lost, "n3");
        }
        eventually("the others go on").until(() -> members(trio.node(2)) == 0);
        // Here somebody waited for each client in turn, after the cut, too.
        Conditions.within(6, () -> false);
        long healedNanos = System.nanoTime();
        network.heal();
        soon("they are one cluster again")
            .until(
                () ->
                    heard(trio.node(2)) == CLIENTS
                        && oldest.get("/health/ready").statusCode() == 200);
        tell("parts found together", healedNanos);
      }
    }
  }

  private Jar.Running crowd(Host host, Trio trio) {
    return Program.startFedWithJar(
            host.surroundings(),
            directory.resolve("c1"),
            "crowd",
            List.of("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
            Machines.testClasses(),
            Crowd.class.getName(),
            trio.cluster(),
            "t",
            GROUP,
            String.valueOf(CLIENTS))
        .mayPause();
  }

  private static JsonObject group(Node node) {
    return new JsonObject(node.read("/api/groups/" + GROUP));
  }

  private static long members(Node node) {
    return group(node).getJsonArray("members").size();
  }

  private static long heard(Node node) {
    return group(node).getJsonArray("members").stream()
        .filter(member -> ((JsonObject) member).getLong("lastHeartbeatMs") < FRESH_MILLIS)
        .count();
  }

  @Test
  void aConsumerFetchesFromANodeSoonAfterItHearsItAgain() throws IOException {
    try (Network network = Network.open();
        Machines machines = new Machines(directory, network, new Violations())) {
      Node oldest = machines.node("n1");
      oldest.begin().mayPause();
      eventually("n1 is the oldest").until(() -> oldest.get("/health/live").statusCode() == 200);
      List.of("n2", "n3").forEach(node -> machines.node(node).begin().mayPause());
      machines.trio().nodes.forEach(Node::awaitReady);
      oldest.createTopic(ChaosClient.TOPIC, SHARDS);
      machines.startClient("c1");
      machines.startClient("c2");
      eventually("both clients own and consume")
          .until(() -> after("c1", 0).size() > 1 && after("c2", 0).size() > 1);
      eventually("a node that is neither the oldest nor the dispatcher leads shards of c1")
          .until(() -> !Set.copyOf(ledBy("n3", oldest)).isEmpty());
      network.cut("c1", "n3");
      Conditions.within(15, () -> false);
      long healedNanos = System.nanoTime();
      network.heal();
      soon("all shards are consumed, by whomever")
          .until(() -> consumed(healedNanos).size() == SHARDS);
      Map<Integer, Double> seconds = new TreeMap<>();
      consumed(healedNanos)
          .forEach((shard, nanos) -> seconds.put(shard, (nanos - healedNanos) / 1_000_000 / 1e3));
      System.out.println("after so many seconds each shard was consumed: " + seconds);
    }
  }

  private static Set<Integer> ledBy(String node, Node asked) {
    JsonObject topic = new JsonObject(asked.read("/api/topics/" + ChaosClient.TOPIC));
    return topic.getJsonArray("shardList").stream()
        .map(JsonObject.class::cast)
        .filter(shard -> node.equals(shard.getString("leader")))
        .map(shard -> shard.getInteger("shard"))
        .collect(Collectors.toSet());
  }

  private Map<Integer, Long> consumed(long sinceNanos) throws IOException {
    Map<Integer, Long> all = after("c1", sinceNanos);
    after("c2", sinceNanos).forEach((shard, nanos) -> all.merge(shard, nanos, Math::min));
    return all;
  }

  /** By shard, when the first message ended after that in the group in mode sharded. */
  private Map<Integer, Long> after(String client, long sinceNanos) throws IOException {
    Map<Integer, Long> first = new HashMap<>();
    String text = Files.readString(directory.resolve(client).resolve("events-1"));
    text.substring(0, text.lastIndexOf('\n') + 1)
        .lines()
        .map(Event::parse)
        .forEach(
            event -> {
              if (event instanceof Event.Ended ended
                  && ended.nanos() > sinceNanos
                  && ended.place().group().equals(ChaosClient.SHARDED)) {
                first.merge(ended.place().shard(), ended.nanos(), Math::min);
              }
            });
    return first;
  }

  private static void tell(String what, long sinceNanos) {
    System.out.printf("%s after %.1f s%n", what, (System.nanoTime() - sinceNanos) / 1e9);
  }

  private static ConditionFactory eventually(String what) {
    return Awaitility.await(what)
        .atMost(Duration.ofSeconds(240))
        .pollInterval(Duration.ofMillis(200))
        .ignoreExceptions();
  }

  private static ConditionFactory soon(String what) {
    return Awaitility.await(what)
        .atMost(Duration.ofMillis((long) (SOON_SECONDS * 1_000 * Jar.crowding())))
        .pollInterval(Duration.ofMillis(200))
        .ignoreExceptions();
  }
}
