package dev.evenkeel.chaos;

import dev.evenkeel.PrometheusText;
import dev.evenkeel.functional.Jar;
import dev.evenkeel.functional.Node;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The oldest node, which is the active dispatcher, vanishes together with half of the clients. Some
 * parts of the cluster's maps have no owner until it has been expelled. The level group must not
 * wait for these any longer than others do. Nor does it when nothing is left in the maps.
 */
@Timeout(900)
@Tag("chaos")
class LevelFailoverIT {
  private static final int SHARDS = 6;
  private static final List<String> LOST = List.of("n1", "c1", "c2");
  private static final List<String> LEFT_NODES = List.of("n2", "n3");
  private static final List<String> LEFT_CLIENTS = List.of("c3", "c4");

  /** Far less than a group stood still that waited for a registration at a lost node. */
  private static final double SOON_SECONDS = 25;

  @TempDir Path directory;

  @BeforeAll
  static void possible() {
    Network.assumePossible();
  }

  @Test
  void aLevelGroupGoesOnWhenItsDispatcherAndHalfOfItsMembersVanish() throws IOException {
    try (Network network = Network.open();
        Machines machines = started(network)) {
      vanish(network);
      awaitLevel(epochs(), System.nanoTime());
    }
  }

  @Test
  void aLevelGroupGoesOnWherePacketsAreLostAndLate() throws IOException {
    try (Network network = Network.open();
        Machines machines = started(network)) {
      List<String> all = Stream.of(LOST, LEFT_NODES, LEFT_CLIENTS).flatMap(List::stream).toList();
      all.forEach(each -> network.lose(each, 5));
      if (network.noDelay().isEmpty()) {
        all.forEach(each -> network.delay(each, 50, 50));
      }
      vanish(network);
      awaitLevel(epochs(), System.nanoTime());
    }
  }

  /** The registry of members is gone with the nodes; the clients find out where to connect to. */
  @Test
  void aLevelGroupGoesOnWhenAllNodesWereKilled() throws IOException {
    try (Network network = Network.open();
        Machines machines = started(network)) {
      Schedule.NODES.forEach(machines::kill);
      Map<String, Long> epochs = epochs();
      Schedule.NODES.forEach(machines::start);
      machines.trio().nodes.forEach(Node::awaitReady);
      awaitLevel(epochs, System.nanoTime());
    }
  }

  private static void vanish(Network network) {
    for (String lost : LOST) {
      Stream.of(LEFT_NODES, LEFT_CLIENTS)
          .flatMap(List::stream)
          .forEach(left -> network.cut(lost, left));
    }
  }

  /** Three nodes, n1 the oldest and the active dispatcher, and four clients at work. */
  private Machines started(Network network) {
    Machines machines = new Machines(directory, network, new Violations());
    Node oldest = machines.node("n1");
    oldest.begin().mayPause();
    eventually("n1 is the oldest").until(() -> oldest.get("/health/live").statusCode() == 200);
    LEFT_NODES.forEach(node -> machines.node(node).begin().mayPause());
    machines.trio().nodes.forEach(Node::awaitReady);
    oldest.createTopic(ChaosClient.TOPIC, SHARDS);
    List<String> clients = List.of("c1", "c2", "c3", "c4");
    clients.forEach(machines::startClient);
    eventually("clients have joined")
        .until(() -> clients.stream().allMatch(client -> machines.told(client, "joined") > 0));
    eventually("n1 is the active dispatcher").until(() -> dispatches(machines, "n1"));
    eventually("the level group is at work").until(() -> shardsOfLevelGroup(epochs()) == SHARDS);
    return machines;
  }

  /** Another node that is in the way pauses until one of the others has taken over. */
  private static boolean dispatches(Machines machines, String wanted) {
    for (String node : LEFT_NODES) {
      if (isDispatcher(machines, node)) {
        machines.signal(node, "STOP");
        eventually("another node takes over")
            .until(
                () ->
                    Schedule.NODES.stream()
                        .anyMatch(other -> !other.equals(node) && isDispatcher(machines, other)));
        machines.signal(node, "CONT");
        eventually(node + " knows").until(() -> !isDispatcher(machines, node));
      }
    }
    return isDispatcher(machines, wanted);
  }

  private static boolean isDispatcher(Machines machines, String node) {
    return PrometheusText.parse(machines.node(node).read("/metrics"))
            .sum("evenkeel_dispatcher_active")
        > 0;
  }

  private static ConditionFactory eventually(String what) {
    return Awaitility.await(what)
        .atMost(Duration.ofSeconds(180))
        .pollInterval(Duration.ofMillis(200))
        .ignoreExceptions();
  }

  private void awaitLevel(Map<String, Long> epochs, long sinceNanos) throws IOException {
    try {
      Awaitility.await("another dispatcher deals messages of all shards")
          .atMost(Duration.ofMillis((long) (SOON_SECONDS * 1_000 * Jar.crowding())))
          .pollInterval(Duration.ofMillis(500))
          .until(() -> shardsOfLevelGroup(later(epochs)) == SHARDS);
    } finally {
      Map<String, Double> seconds = new TreeMap<>();
      later(epochs)
          .forEach((each, nanos) -> seconds.put(each, (nanos - sinceNanos) / 1_000_000 / 1e3));
      System.out.println("under a later epoch after so many seconds: " + seconds);
    }
  }

  private static long shardsOfLevelGroup(Map<String, Long> each) {
    return each.keySet().stream().filter(key -> key.startsWith(ChaosClient.LEVEL + " ")).count();
  }

  /** The latest epoch under which messages were handled, by group and shard. */
  private Map<String, Long> epochs() throws IOException {
    Map<String, Long> epochs = new HashMap<>();
    for (Event.Ended ended : ended(List.of("c1", "c2", "c3", "c4"))) {
      epochs.merge(key(ended.place()), ended.place().epoch(), Math::max);
    }
    return epochs;
  }

  /** By group and shard, when the first message under a later epoch ended at a client left. */
  private Map<String, Long> later(Map<String, Long> epochs) throws IOException {
    Map<String, Long> first = new HashMap<>();
    for (Event.Ended ended : ended(LEFT_CLIENTS)) {
      if (ended.place().epoch() > epochs.getOrDefault(key(ended.place()), 0L)) {
        first.merge(key(ended.place()), ended.nanos(), Math::min);
      }
    }
    return first;
  }

  private static String key(Event.Place place) {
    return place.group() + " " + place.shard();
  }

  private List<Event.Ended> ended(List<String> clients) throws IOException {
    List<Event.Ended> ended = new ArrayList<>();
    for (String client : clients) {
      // The last line may not be whole yet.
      String text = Files.readString(directory.resolve(client).resolve("events-1"));
      text.substring(0, text.lastIndexOf('\n') + 1)
          .lines()
          .map(Event::parse)
          .filter(Event.Ended.class::isInstance)
          .map(Event.Ended.class::cast)
          .forEach(ended::add);
    }
    return ended;
  }
}
