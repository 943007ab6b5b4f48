package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;

/** A cluster that begins as one node, n1, to which others come and from which they go. */
final class Growing implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(15);

  final Map<String, Node> nodes = new TreeMap<>();
  private final Path directory;
  private final List<Jar.Running> clients = new ArrayList<>();

  /**
   * @param settings of the first node
   */
  Growing(Path directory, String... settings) {
    this.directory = directory;
    Node first = new Node(directory.resolve("n1")).with("--node", "n1").with(settings);
    nodes.put("n1", first);
    first.start();
  }

  /** Begins a node that asks to be taken in. */
  Node begin(String id, String... settings) {
    var node = new Node(directory.resolve(id)).with("--node", id, "--join", seeds()).with(settings);
    nodes.put(id, node);
    node.begin();
    return node;
  }

  /** Takes a node in, and waits until everything is where it should be. */
  Node join(String id, String... settings) {
    Node node = begin(id, settings);
    node.awaitReady();
    awaitSettled();
    return node;
  }

  Node node(String id) {
    return nodes.get(id);
  }

  String seeds() {
    return nodes.values().stream().map(Node::cluster).collect(Collectors.joining(","));
  }

  private Node asked() {
    return nodes.values().stream()
        .filter(node -> node.process().process.isAlive())
        .filter(node -> node.process().out().contains("evenkeel ready"))
        .findFirst()
        .orElseThrow();
  }

  JsonObject status() {
    return new JsonObject(asked().read("/api/cluster"));
  }

  /** The node that drives changes. */
  String driver() {
    return Awaitility.await("a leader of meta")
        .atMost(PATIENCE)
        .until(() -> log("meta").getString("leader"), leader -> leader != null);
  }

  /** There is a log group of that name with all its voters, and it works. */
  void awaitLogGroup(String name) {
    Awaitility.await("log group " + name)
        .atMost(PATIENCE)
        .until(
            () ->
                objects(status(), "logs").stream()
                    .anyMatch(
                        log ->
                            log.getString("group").equals(name)
                                && log.getString("leader") != null));
    awaitSettled();
  }

  private JsonObject log(String group) {
    return objects(status(), "logs").stream()
        .filter(log -> log.getString("group").equals(group))
        .findFirst()
        .orElseThrow();
  }

  static List<JsonObject> objects(JsonObject json, String list) {
    return json.getJsonArray(list).stream().map(JsonObject.class::cast).toList();
  }

  /** No log group is on its way, and each has voters on as many of these nodes as it should. */
  void awaitSettled() {
    List<String> last = new ArrayList<>();
    Awaitility.await("everything is where it should be")
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(200))
        .conditionEvaluationListener(any -> {})
        .until(
            () -> {
              List<String> open = open(status());
              last.clear();
              last.addAll(open);
              return open.isEmpty();
            });
  }

  /** What is not as it should be, for people. */
  private List<String> open(JsonObject status) {
    List<String> open = new ArrayList<>();
    Set<String> present = new TreeSet<>();
    for (JsonObject node : objects(status, "nodes")) {
      present.add(node.getString("node"));
      if (!"MEMBER".equals(node.getString("membership"))
          || !node.getJsonObject("moving", new JsonObject()).isEmpty()) {
        open.add(node.encode());
      }
    }
    if (!present.equals(nodes.keySet())) {
      open.add("the nodes are " + present);
    }
    for (JsonObject log : objects(status, "logs")) {
      JsonArray voters = log.getJsonArray("voters");
      boolean placed =
          voters != null
              && (log.getString("group").equals("meta")
                  ? isEverywhere(log)
                  : voters.size() == Math.min(3, nodes.size()))
              && (log.getJsonArray("target") == null
                  || names(voters).equals(names(log.getJsonArray("target"))));
      if (!placed || log.getString("leader") == null) {
        open.add(log.encode());
      }
    }
    return open;
  }

  /** Every node has meta: enough of them with a vote, the others without one. */
  private boolean isEverywhere(JsonObject meta) {
    Set<String> all = names(meta.getJsonArray("voters"));
    int voters = all.size();
    all.addAll(names(meta.getJsonArray("listeners")));
    int wanted = Math.min(nodes.size(), nodes.size() < 5 ? 3 : 5);
    return all.equals(nodes.keySet()) && voters >= wanted;
  }

  /** The log groups of messages in which a node votes. */
  List<String> holding(String id) {
    return objects(status(), "logs").stream()
        .filter(log -> !log.getString("group").equals("meta"))
        .filter(log -> names(log.getJsonArray("voters")).contains(id))
        .map(log -> log.getString("group"))
        .toList();
  }

  private static Set<String> names(JsonArray array) {
    return array.stream().map(String.class::cast).collect(Collectors.toSet());
  }

  /** Takes a node out and waits until that is done; its process ends by itself. */
  void remove(String id) {
    Node node = nodes.get(id);
    Node other = other(id);
    boolean runs = node.process().process.isAlive();
    other.admin("cluster", "remove", id);
    Awaitility.await(id + " ends").atMost(PATIENCE).until(() -> !node.process().process.isAlive());
    if (runs) {
      Jar.Result ended = node.process().await();
      assertThat(ended.status()).as(ended.err()).isZero();
      assertThat(ended.err()).containsOnlyOnce("node " + id + ": it was removed from the cluster");
    }
    nodes.remove(id);
    awaitSettled();
  }

  Node other(String id) {
    return nodes.entrySet().stream()
        .filter(each -> !each.getKey().equals(id))
        .map(Map.Entry::getValue)
        .filter(node -> node.process().process.isAlive())
        .findFirst()
        .orElseThrow();
  }

  Jar.Running consume(String name, String topic, String group, String... more) {
    List<String> args = new ArrayList<>(List.of("consume", topic, "--group", group));
    args.addAll(List.of("--member", name, "--format", "json", "--cluster", seeds()));
    args.addAll(List.of(more));
    return kept(Jar.startInCrowd(directory, name, args.toArray(String[]::new)));
  }

  /** A producer that is fed on its standard input, by key as {@link Lines} are. */
  Jar.Running produce(String name, String topic, int rate) {
    return kept(
        Jar.startFedInCrowd(
            directory,
            name,
            words(
                "produce %s --key-regex %s --rate %s --cluster %s -",
                topic, Lines.KEY_REGEX, rate, seeds())));
  }

  /** A producer that is fed on its standard input, as fast as it can. */
  Jar.Running fill(String name, String topic) {
    return kept(Jar.startFedInCrowd(directory, name, "produce", topic, "--cluster", seeds(), "-"));
  }

  /** Bytes of each node, as the cluster plans with them. */
  Map<String, Long> bytes() {
    Map<String, Long> bytes = new TreeMap<>();
    objects(status(), "nodes")
        .forEach(node -> bytes.put(node.getString("node"), node.getLong("bytes")));
    return bytes;
  }

  private Jar.Running kept(Jar.Running client) {
    clients.add(client);
    return client;
  }

  @Override
  public void close() {
    clients.forEach(Jar.Running::close);
    nodes.values().forEach(Node::close);
  }
}
