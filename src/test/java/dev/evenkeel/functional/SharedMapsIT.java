package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.hazelcast.map.IMap;
import dev.evenkeel.Wait;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.cluster.LiteMember;
import dev.evenkeel.dedup.DedupScope;
import dev.evenkeel.gateway.GatewayVerticle;
import dev.evenkeel.gateway.http.WebVerticle;
import dev.evenkeel.protocol.NodePorts;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the page about the shared maps promises to those who read them. */
class SharedMapsIT {
  private static final int SHARDS = 6;

  @TempDir Path directory;

  /** The lines of {@code MapsExample}. */
  private static final class Watcher implements AutoCloseable {
    final Jar.Running running;

    Watcher(Path directory, Node node) {
      running =
          Program.start(
              directory,
              "maps",
              Program.vertxAndHazelcastAlone(directory),
              "examples.MapsExample",
              "127.0.0.1:" + NodePorts.hazelcast(node.port));
    }

    List<String> lines(String map) {
      String begin = "evenkeel." + map + " ";
      return running
          .out()
          .lines()
          .filter(line -> line.startsWith(begin))
          .map(line -> line.substring(begin.length()))
          .toList();
    }

    /** What is in a map, by the last line about each key. */
    Map<String, String> entries(String map) {
      Map<String, String> entries = new TreeMap<>();
      for (String line : lines(map)) {
        int key = line.indexOf(' ');
        entries.put(line.substring(0, key), line.substring(key + 1));
      }
      entries.values().removeIf("-"::equals);
      return entries;
    }

    @Override
    public void close() {
      running.close();
    }
  }

  /** What {@code GET /api/groups/g} says, in the words of {@code MapsExample}. */
  private static Map<String, String> ownersByTheApi(Node node) {
    return new TreeMap<>(
        node.shards("g").stream()
            .collect(
                Collectors.toMap(
                    shard -> "g/" + shard.getString("topic") + "/" + shard.getInteger("shard"),
                    shard ->
                        shard.getString("state")
                            + " "
                            + shard.getString("owner")
                            + " "
                            + shard.getLong("epoch"))));
  }

  private static List<String> membersByTheApi(Node node) {
    JsonArray members = new JsonObject(node.get("/api/groups/g").body()).getJsonArray("members");
    return members.stream()
        .map(member -> "g/" + ((JsonObject) member).getString("member"))
        .sorted()
        .toList();
  }

  private static void awaitOwned(Node node, int each, String... members) {
    Wait.until(
        () -> {
          Map<String, Long> owned =
              node.shards("g").stream()
                  .filter(shard -> "OWNED".equals(shard.getString("state")))
                  .collect(
                      Collectors.groupingBy(
                          shard -> shard.getString("owner"), Collectors.counting()));
          return List.of(members).stream()
              .allMatch(name -> Long.valueOf(each).equals(owned.get(name)));
        });
  }

  private static IMap<Object, Object> map(ClusterMember member, String name) {
    return ((HazelcastClusterManager) ((VertxInternal) member.vertx()).clusterManager())
        .getHazelcastInstance()
        .getMap(name);
  }

  @Test
  void aProgramWithVertxAndHazelcastAloneSeesWhatTheApiSays() throws Exception {
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("t", SHARDS);
      try (Watcher watcher = new Watcher(directory, node);
          Jar.Running a = node.consume("a", "t", "g")) {
        awaitOwned(node, 6, "a");
        try (Jar.Running b = node.consume("b", "t", "g")) {
          awaitOwned(node, 3, "a", "b");
          sees(watcher, node);
          assertThat(watcher.lines("ownership"))
              .as("a handover")
              .anyMatch(line -> line.contains(" OWNED b "));
          b.kill();
          awaitOwned(node, 6, "a");
          sees(watcher, node);
          assertThat(watcher.lines("registry")).contains("g/b -");
        }
        strangersDoNoHarm(node, watcher);
        assertThat(a.stop().status()).isZero();
        Wait.until("a has gone", () -> watcher.entries("registry").isEmpty());
        assertThat(node.delete("/api/groups/g").statusCode()).isEqualTo(200);
        Wait.until("the group has gone", () -> watcher.entries("ownership").isEmpty());
      }
    }
  }

  private static void sees(Watcher watcher, Node node) {
    Wait.until(
        "the maps are as the API says",
        () ->
            watcher.entries("ownership").equals(ownersByTheApi(node))
                && List.copyOf(watcher.entries("registry").keySet()).equals(membersByTheApi(node)));
  }

  /** A stranger writes to the maps, and clears them; somebody writes in the former form. */
  private static void strangersDoNoHarm(Node node, Watcher watcher) throws Exception {
    Map<String, String> owners = ownersByTheApi(node);
    ClusterMember other = await(LiteMember.join(node.port));
    try {
      IMap<Object, Object> ownership = map(other, "evenkeel.ownership");
      IMap<Object, Object> registry = map(other, "evenkeel.registry");
      ownership.set("g/t/0", "hello");
      ownership.set("g/t/1", "{\"owner\":\"a\",\"epoch\":1,\"state\":\"OWNED\"}");
      ownership.set("g/t/2", 17);
      ownership.set("hello", "hello");
      registry.set("g/a", "hello");
      registry.set("g/c", "{\"group\":\"g\",\"member\":\"c\"}");
      Wait.until(
          "the dispatcher has overwritten it",
          () ->
              ownership.size() == SHARDS
                  && registry.size() == 1
                  && ownership.values().stream().allMatch(SharedMapsIT::isOurs)
                  && registry.values().stream().allMatch(SharedMapsIT::isOurs));
      for (int i = 0; i < 3; i++) {
        ownership.clear();
        registry.clear();
        Wait.until(
            "they are filled again", () -> ownership.size() == SHARDS && registry.size() == 1);
      }
    } finally {
      await(other.close());
    }
    sees(watcher, node);
    assertThat(ownersByTheApi(node)).as("no shard has moved").isEqualTo(owners);
    assertThat(
            node.process()
                .err()
                .lines()
                .filter(line -> line.contains("at 'g/t/0': its text is no JSON"))
                .toList())
        .as(node.process().err())
        .hasSize(1);
  }

  private static boolean isOurs(Object text) {
    return text instanceof String json && json.startsWith("{\"v\":1,");
  }

  @Test
  void keysThatDedupHoldsForLongAreSeen() throws Exception {
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("t", 1);
      // It works until the file is there.
      Path go = directory.resolve("go");
      String work = "while [ ! -e " + go + " ]; do sleep 0.2; done";
      try (Jar.Running a = node.consume("a", "t", "g", "--dedup", "key", "--exec", work)) {
        awaitOwned(node, 1, "a");
        assertThat(node.post("/api/topics/t/messages", "{\"key\":\"k\",\"payload\":\"x\"}"))
            .matches(answer -> answer.statusCode() == 200);
        ClusterMember other = await(LiteMember.join(node.port));
        try {
          IMap<Object, Object> keys = map(other, "evenkeel.dedup.keys");
          String hash = new DedupScope("g", "t").key("k".getBytes(UTF_8)).toString();
          Wait.until("it is held", () -> keys.containsKey(hash));
          JsonObject held = new JsonObject((String) keys.get(hash));
          assertThat(held.getString("state")).isEqualTo("PROCESS");
          JsonObject member = new JsonObject((String) map(other, "evenkeel.registry").get("g/a"));
          assertThat(held.getString("clusterMember")).isEqualTo(member.getString("clusterMember"));
          Files.createFile(go);
          Wait.until("it is free", keys::isEmpty);
        } finally {
          await(other.close());
        }
        assertThat(a.stop().status()).isZero();
      }
    }
  }

  /** The live view of a node, and of a JVM that has the gateway and no node. */
  @Test
  @Tag("full")
  @Timeout(600)
  void whileNoDispatcherAnswersTheLiveViewShowsOwnersByTheMap() throws Exception {
    try (Trio trio = new Trio(directory).start()) {
      Node last = trio.nodes.get(0);
      last.createTopic("t", SHARDS);
      List<Jar.Running> consumers = new ArrayList<>();
      List.of("a", "b").forEach(name -> consumers.add(trio.consume(name, "t", "g")));
      awaitOwned(last, 3, "a", "b");
      ClusterMember other = await(LiteMember.join(last.port));
      try (LiveWatcher early = new LiveWatcher(last)) {
        await(other.vertx().deployVerticle(new GatewayVerticle()));
        WebVerticle web = new WebVerticle();
        JsonObject config = new JsonObject().put("port", 0).put("node", "gateway");
        await(other.vertx().deployVerticle(web, new DeploymentOptions().setConfig(config)));
        early.await("the dispatcher's word", state -> owners(state).size() == SHARDS);
        // Hazelcast copies what the first one had before the second one goes.
        trio.nodes.get(1).kill();
        Wait.until("one has gone", () -> other.dataMembers() == 2);
        Wait.until(() -> map(other, "evenkeel.ownership").size() == SHARDS);
        awaitAllCopied(other);
        awaitOwned(last, 3, "a", "b");
        Map<String, String> owners = ownersByTheApi(last);
        trio.nodes.get(2).kill();
        Wait.until("two have gone", () -> other.dataMembers() == 1);
        early.await("the map's word", SharedMapsIT::byMap);
        URI uri = URI.create("ws://127.0.0.1:" + web.actualPort() + "/ws/live");
        try (LiveWatcher gateway = new LiveWatcher(uri)) {
          // It has never heard a dispatcher.
          JsonObject state =
              gateway.await(
                  "the owners by the map", shown -> byMap(shown) && owners.equals(owners(shown)));
          assertThat(state.getJsonObject("groups").getJsonObject("g").getJsonObject("members"))
              .hasSize(2);
          trio.nodes.get(1).start();
          for (LiveWatcher each : List.of(early, gateway)) {
            int from = each.frames.size();
            Wait.until(
                "the dispatcher's word again",
                150,
                () -> {
                  List<JsonObject> states = each.states();
                  JsonObject now = states.get(states.size() - 1);
                  return states.size() > from
                      && !byMap(now)
                      && ownersByTheApi(last).equals(owners(now));
                });
          }
        }
      } finally {
        await(other.close());
      }
      consumers.forEach(consumer -> assertThat(consumer.stop().status()).isZero());
    }
  }

  /** Whether no partition waits for its backup. */
  private static void awaitAllCopied(ClusterMember member) {
    Wait.until(
        "all is copied",
        () ->
            ((HazelcastClusterManager) ((VertxInternal) member.vertx()).clusterManager())
                .getHazelcastInstance()
                .getPartitionService()
                .isClusterSafe());
  }

  private static boolean byMap(JsonObject state) {
    JsonObject owners = state.getJsonObject("cluster").getJsonObject("owners");
    return owners != null && "map".equals(owners.getString("source"));
  }

  private static Map<String, String> owners(JsonObject state) {
    Map<String, String> owners = new TreeMap<>();
    JsonObject group =
        state.getJsonObject("groups", new JsonObject()).getJsonObject("g", new JsonObject());
    group
        .getJsonObject("shards", new JsonObject())
        .forEach(
            each -> {
              JsonObject shard = (JsonObject) each.getValue();
              owners.put(
                  "g/" + each.getKey(),
                  shard.getString("state")
                      + " "
                      + shard.getString("owner")
                      + " "
                      + shard.getLong("epoch"));
            });
    return owners;
  }
}
