package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.TestPorts;
import dev.evenkeel.TestUsers;
import dev.evenkeel.Unchecked;
import dev.evenkeel.Wait;
import dev.evenkeel.cli.CommandInJvm;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.protocol.NodePorts;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;

/** A node in a process of its own, by default on free ports of the loopback interface. */
public final class Node implements AutoCloseable {
  /** Messages of one request, as the HTTP API allows. */
  private static final int SENT_AT_ONCE_MAX = 1_000;

  public final Path directory;
  public final int port;
  public final int httpPort;
  private final String address;

  /** Settings that it is always started with. */
  private final List<String> settings = new ArrayList<>();

  /** Of each run its own: connections to the run before would break under the next request. */
  private HttpClient http = TestUsers.http();

  private Jar.Running process;
  private List<String> jvmOptions;
  private Path jar = Jar.JAR;
  private Surroundings surroundings = Surroundings.NONE;
  private int starts;

  Node(Path directory) {
    this(directory, "127.0.0.1", TestPorts.take(4), TestPorts.take(1));
  }

  private Node(Path directory, String address, int port, int httpPort) {
    this.directory = directory;
    this.address = address;
    this.port = port;
    this.httpPort = httpPort;
  }

  /** A node that has an address of its own, with the usual ports. */
  public static Node at(Path directory, String address, Surroundings surroundings) {
    Node node = new Node(directory, address, 5701, 8080).with("--host", address, "--insecure");
    return node.with(TestUsers.needTls(address) ? TestUsers.ofMachine() : new String[0])
        .in(surroundings);
  }

  /** A node on a loopback address of this machine. */
  static Node on(Path directory, String address, int port, int httpPort) {
    return new Node(directory, address, port, httpPort).with("--host", address);
  }

  /** From now on it is started in these. */
  public Node in(Surroundings now) {
    surroundings = now;
    return this;
  }

  /** From now on it is started with these, too, as one of several nodes. */
  public Node with(String... more) {
    settings.addAll(List.of(more));
    return this;
  }

  /** From now on its JVM is started with these options, and no others. */
  public Node inJvm(List<String> options) {
    jvmOptions = options;
    return this;
  }

  /** From now on it is started from this build. */
  Node of(Path build) {
    jar = build;
    return this;
  }

  public Node start(String... more) {
    begin(more);
    awaitReady();
    return this;
  }

  public Jar.Running begin(String... more) {
    List<String> args =
        new ArrayList<>(
            List.of(
                "serve",
                "--port",
                String.valueOf(port),
                "--http-port",
                String.valueOf(httpPort),
                "--data",
                directory.resolve("data").toString()));
    args.addAll(settings);
    args.addAll(List.of(more));
    String name = "node-" + ++starts;
    http = TestUsers.http();
    List<String> options = settings.isEmpty() ? Jar.USUAL_OPTIONS : Jar.CROWD_OPTIONS;
    process =
        Jar.unfed(
            Jar.startJar(
                jar,
                surroundings,
                directory,
                name,
                jvmOptions != null ? jvmOptions : options,
                args.toArray(String[]::new)));
    return jvmOptions == null && settings.isEmpty() ? process : process.inCrowd();
  }

  public void awaitReady() {
    awaitReady(List.of(this));
  }

  /** Fails as soon as one of those ends that it needs, itself among them. */
  public void awaitReady(List<Node> needed) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(240))
        .pollInterval(Duration.ofMillis(20))
        .until(
            () ->
                process.out().contains("evenkeel ready")
                    || needed.stream().anyMatch(node -> !node.process.process.isAlive()));
    for (Node node : needed) {
      if (!node.process.process.isAlive()) {
        throw new AssertionError("the node ended: " + node.process.await());
      }
    }
  }

  public long pid() {
    return process.process.pid();
  }

  public Jar.Running process() {
    return process;
  }

  public void kill() {
    process.kill();
  }

  public Jar.Result stop() {
    return process.stop();
  }

  public String cluster() {
    return new HostPort(address, port).toString();
  }

  int hazelcastPort() {
    return NodePorts.hazelcast(port);
  }

  public String url() {
    return (TestUsers.needTls(address) ? "https://" : "http://") + new HostPort(address, httpPort);
  }

  /** Runs a command of the administrative kind against this node; it must succeed. */
  public Jar.Result admin(String... args) {
    List<String> all = new ArrayList<>(List.of(args));
    Jar.Result result = tryAdmin(args);
    if (result.status() != 0) {
      throw new AssertionError(String.join(" ", all) + ": " + result);
    }
    return result;
  }

  /**
   * Runs a command of the administrative kind against this node, in this JVM: it does nothing but
   * call the HTTP API, and the start of a process costs more than all of that.
   */
  public Jar.Result tryAdmin(String... args) {
    List<String> all = new ArrayList<>(List.of(args));
    all.addAll(List.of("--http", url()));
    all.addAll(TestUsers.tokenArguments());
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status = CommandInJvm.run(out, err, all.toArray(String[]::new));
    return new Jar.Result(status, out.toString(), err.toString());
  }

  public void createTopic(String name, int shards) {
    String topic = new JsonObject().put("name", name).put("shards", shards).encode();
    List<String> answers = new ArrayList<>();
    Wait.until(
        "topic " + name,
        () -> {
          HttpResponse<String> answer = post("/api/topics", topic);
          answers.add(answer.statusCode() + " " + answer.body());
          // On a busy machine the leader may change meanwhile: then it may exist, or not.
          return answer.statusCode() != 503;
        });
    boolean twice = answers.size() > 1 && last(answers).startsWith("409");
    if (!twice && !last(answers).startsWith("201")) {
      throw new AssertionError("topic " + name + ": " + answers);
    }
  }

  private static String last(List<String> answers) {
    return answers.get(answers.size() - 1);
  }

  public HttpResponse<String> get(String path) {
    return send(TestUsers.request(URI.create(url() + path)).build());
  }

  /** What the node tells; asked again while it cannot, as when another leader is chosen. */
  public String read(String path) {
    return Awaitility.await(path)
        .atMost(Duration.ofSeconds(60))
        .until(() -> get(path), answer -> answer.statusCode() != 503)
        .body();
  }

  /** Writes messages in this order, without keys; all must be taken. */
  public void send(String topic, List<String> payloads) {
    sendAll(topic, payloads.stream().map(each -> new JsonObject().put("payload", each)).toList());
  }

  /** Writes messages in this order, each with its payload as its key; all must be taken. */
  void sendByKey(String topic, List<String> payloads) {
    sendAll(
        topic,
        payloads.stream()
            .map(each -> new JsonObject().put("key", each).put("payload", each))
            .toList());
  }

  /** Writes messages as the HTTP API has them, in this order; all must be taken. */
  void sendAll(String topic, List<JsonObject> messages) {
    for (int from = 0; from < messages.size(); from += SENT_AT_ONCE_MAX) {
      var some = messages.subList(from, Math.min(messages.size(), from + SENT_AT_ONCE_MAX));
      var answer = post("/api/topics/" + topic + "/messages", new JsonArray(some).encode());
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    }
  }

  public HttpResponse<String> post(String path, String body) {
    return send(
        TestUsers.request(URI.create(url() + path))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build());
  }

  public HttpResponse<String> delete(String path) {
    return send(TestUsers.request(URI.create(url() + path)).DELETE().build());
  }

  private HttpResponse<String> send(HttpRequest request) {
    return Unchecked.get(() -> http.send(request, HttpResponse.BodyHandlers.ofString()));
  }

  Jar.Running produce(String name, Path file, String topic, String... more) {
    List<String> args = new ArrayList<>(List.of("produce", topic, "--cluster", cluster()));
    args.addAll(List.of(more));
    args.add(file.toString());
    return Jar.start(directory, name, args.toArray(String[]::new));
  }

  Jar.Running consume(String name, String topic, String group, String... more) {
    List<String> args =
        new ArrayList<>(
            List.of("consume", topic, "--group", group, "--member", name, "--cluster", cluster()));
    args.addAll(List.of(more));
    return Jar.start(directory, name + "-" + System.nanoTime(), args.toArray(String[]::new));
  }

  /** The shards of a group as the HTTP API shows them; empty while there is no such group. */
  public List<JsonObject> shards(String group) {
    HttpResponse<String> answer = get("/api/groups/" + group);
    List<JsonObject> shards = new ArrayList<>();
    if (answer.statusCode() == 200) {
      new JsonObject(answer.body())
          .getJsonArray("shards")
          .forEach(shard -> shards.add((JsonObject) shard));
    }
    return shards;
  }

  /** Messages that the topic's shards have got, as far as that is known now. */
  public long written(String topic) {
    JsonArray shards =
        new JsonObject(get("/api/topics/" + topic).body())
            .getJsonArray("shardList", new JsonArray());
    return shards.stream()
        .map(shard -> ((JsonObject) shard).getLong("end"))
        .mapToLong(end -> end == null ? 0 : end)
        .sum();
  }

  /** What the group has not consumed; null while that is not known of every shard. */
  public Long lag(String group) {
    long sum = 0;
    for (JsonObject shard : shards(group)) {
      Long lag = shard.getLong("lag");
      if (lag == null) {
        return null;
      }
      sum += lag;
    }
    return sum;
  }

  /** Waits until the group has consumed {@code messages} messages, and there are no more. */
  public void awaitConsumed(String group, long messages) {
    awaitConsumed(group, messages, Duration.ofMinutes(3));
  }

  void awaitConsumed(String group, long messages, Duration patience) {
    Awaitility.await(group + " has consumed " + messages)
        .atMost(patience)
        .pollInterval(Duration.ofMillis(100))
        .until(
            () -> {
              long committed = 0;
              for (JsonObject shard : shards(group)) {
                Long lag = shard.getLong("lag");
                if (lag == null || lag > 0) {
                  return false;
                }
                committed += shard.getLong("committed");
              }
              return committed == messages;
            });
  }

  /** Nothing waits for another attempt in group g, and so many messages are dead. */
  void awaitFailures(int dead) {
    JsonObject expected =
        JsonObject.of("retriesWaiting", 0, "parked", 0, "shardsWaiting", 0, "deadLetters", dead);
    Wait.untilAsserted(
        dead + " dead letters, and nothing that waits",
        120,
        () ->
            assertThat(new JsonObject(get("/api/groups/g").body()).getJsonObject("failures"))
                .isEqualTo(expected));
  }

  @Override
  public void close() {
    if (process != null) {
      process.close();
    }
  }
}
