package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.TestPorts;
import dev.evenkeel.TestUsers;
import dev.evenkeel.Wait;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code evenkeel run} deploys verticles: without a node, as a client, on the event bus, beside
 * one.
 */
class RunIT extends OneNode {
  private static final String CONSUMER = "dev.evenkeel.ConsumerVerticle";
  private static final Path TESTS = Path.of("target/test-classes").toAbsolutePath();

  @TempDir Path own;

  /** A directory with these classes, and no others. */
  private Path classes(String... names) throws Exception {
    Path to = own.resolve("classes");
    for (String name : names) {
      Path file = to.resolve(name.replace('.', '/') + ".class");
      Files.createDirectories(file.getParent());
      Files.copy(TESTS.resolve(to.relativize(file)), file);
    }
    return to;
  }

  private Path conf(JsonObject config) throws Exception {
    return Files.writeString(own.resolve("conf-" + System.nanoTime() + ".json"), config.encode());
  }

  private Path consumer(String group, String topic) throws Exception {
    return conf(
        new JsonObject()
            .put("handler", "examples.LauncherExample$Printer")
            .put("group", group)
            .put("topics", new JsonArray().add(topic)));
  }

  private Jar.Running run(String name, Object... args) {
    List<String> all = new ArrayList<>(List.of("run"));
    Arrays.stream(args).map(String::valueOf).forEach(all::add);
    return Jar.start(own, name, all.toArray(String[]::new));
  }

  private static void awaitRunning(Jar.Running running, String name, int instances) {
    Wait.until(
        name,
        () ->
            running.out().contains("evenkeel running " + name + " instances=" + instances + "\n")
                || !running.process.isAlive());
    assertThat(running.process.isAlive()).as(running.out() + running.err()).isTrue();
  }

  private static String get(int port) throws Exception {
    HttpRequest request = TestUsers.request(URI.create("http://127.0.0.1:" + port)).build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
  }

  private static List<String> owners(String group) {
    return node.shards(group).stream()
        .map(shard -> shard.getString("owner"))
        .filter(Objects::nonNull)
        .distinct()
        .toList();
  }

  private static void send(String topic, int messages) {
    node.sendByKey(topic, IntStream.range(0, messages).mapToObj(i -> "m" + i).toList());
  }

  private static long handled(Jar.Running running) {
    return running.out().lines().filter(line -> line.startsWith("handled ")).count();
  }

  /** It only has Vert.x, and nothing answers at its cluster. */
  @Test
  void aVerticleThatNeedsNoNodeRunsWithoutOne() throws Exception {
    int port = TestPorts.take(1);
    Path config = conf(new JsonObject().put("port", port));
    Path classes = classes("examples.HelloVerticle");
    try (Jar.Running running =
        run(
            "hello",
            "examples.HelloVerticle",
            "--classpath",
            classes,
            "--conf",
            config,
            "--instances",
            2,
            "--cluster",
            "127.0.0.1:1")) {
      awaitRunning(running, "examples.HelloVerticle", 2);
      assertThat(get(port)).isEqualTo("hello\n");
      Jar.Result ended = running.stop();
      assertThat(ended.status()).as(ended.toString()).isZero();
      assertThat(ended.lines())
          .containsExactly(
              "evenkeel running examples.HelloVerticle instances=2", "goodbye", "goodbye");
      assertThat(ended.err()).isEmpty();
    }
  }

  @Test
  void consumersOfAClassShareTheShardsAndReleaseThem() throws Exception {
    consume("sessions", List.of());
    assertThat(Files.readString(own.resolve("sessions.err")))
        .as("all share one session")
        .containsOnlyOnce("connected to node");
  }

  @Test
  void consumersOnTheEventBusDoTheSame() throws Exception {
    consume("bus", List.of("--member"));
  }

  private void consume(String name, List<String> more) throws Exception {
    node.createTopic(name, 6);
    List<Object> args = new ArrayList<>(List.of(CONSUMER, "--instances", 3));
    args.addAll(List.of("--classpath", TESTS, "--conf", consumer(name, name)));
    args.addAll(List.of("--cluster", node.cluster()));
    args.addAll(more);
    try (Jar.Running running = run(name, args.toArray())) {
      awaitRunning(running, CONSUMER, 3);
      Wait.until("three owners", () -> owners(name).size() == 3);
      send(name, 60);
      node.awaitConsumed(name, 60);
      assertThat(handled(running)).isEqualTo(60);
      Jar.Result ended = running.stop();
      assertThat(ended.status()).as(ended.toString()).isZero();
      assertThat(ended.err()).doesNotContain("ERROR", "Exception");
      assertThat(owners(name)).isEmpty();
    }
  }

  /** With sessions, on the event bus and beside a node, by the same class. */
  @Test
  void aVerticleGetsAClientWhereverItRuns() throws Exception {
    node.createTopic("greetings", 1);
    String name = "examples.GreetingVerticle";
    Path config = conf(new JsonObject().put("text", "hello"));
    Object[] common = {name, "--classpath", classes(name), "--conf", config};
    int offset = 0;
    for (List<String> more : List.of(List.<String>of(), List.of("--member"))) {
      List<Object> args = new ArrayList<>(List.of(common));
      args.addAll(List.of("--cluster", node.cluster()));
      args.addAll(more);
      try (Jar.Running running = run("greeting-" + offset, args.toArray())) {
        awaitRunning(running, name, 1);
        assertThat(running.out()).contains("greeted at offset " + offset++);
        Jar.Result ended = running.stop();
        assertThat(ended.status()).as(ended.toString()).isZero();
        assertThat(ended.err()).doesNotContain("ERROR", "Exception");
      }
    }
  }

  /** It consumes what was sent to the node, which keeps its data. */
  @Test
  void runsBesideANodeOfItsOwn() throws Exception {
    try (Node beside = new Node(own.resolve("beside"))) {
      beside.start();
      beside.createTopic("orders", 4);
      beside.sendByKey("orders", List.of("a", "b", "c"));
      assertThat(beside.stop().status()).isZero();
      List<Object> args = new ArrayList<>(List.of(CONSUMER, "--instances", 2));
      args.addAll(List.of("--classpath", TESTS, "--conf", consumer("g", "orders")));
      args.addAll(List.of("--node", "n1", "--port", beside.port));
      args.addAll(List.of("--http-port", beside.httpPort));
      args.addAll(List.of("--data", beside.directory.resolve("data")));
      try (Jar.Running running = run("node", args.toArray())) {
        awaitRunning(running, CONSUMER, 2);
        assertThat(running.out()).startsWith("evenkeel ready node=n1 http=" + beside.httpPort);
        beside.awaitConsumed("g", 3);
        beside.sendByKey("orders", List.of("d", "e"));
        beside.awaitConsumed("g", 5);
        assertThat(handled(running)).isEqualTo(5);
        Jar.Result ended = running.stop();
        assertThat(ended.status()).as(ended.toString()).isZero();
        assertThat(ended.err()).doesNotContain("ERROR", "did not stop cleanly");
      }
      // What it had finished does not come again.
      try (Jar.Running running = run("again", args.toArray())) {
        awaitRunning(running, CONSUMER, 2);
        beside.sendByKey("orders", List.of("f"));
        beside.awaitConsumed("g", 6);
        assertThat(handled(running)).isEqualTo(1);
        running.stopWell();
      }
    }
  }

  /** A program with Vert.x alone listens at the address; the members are those of another one. */
  @Test
  void aConsumerSendsMessagesToAnAddress() throws Exception {
    node.createTopic("addressed", 3);
    Path config = conf(new JsonObject().put("group", "a").put("topics", List.of("addressed")));
    String name = "examples.EchoVerticle";
    Object[] listen = {name, "--member", "--classpath", classes(name), "--cluster", node.cluster()};
    Object[] send = {"echo.in", "--conf", config, "--instances", 2, "--cluster", node.cluster()};
    try (Jar.Running listening = run("listening", listen);
        Jar.Running sending = run("sending", send)) {
      awaitRunning(listening, name, 1);
      awaitRunning(sending, "echo.in", 2);
      send("addressed", 20);
      node.awaitConsumed("a", 20);
      assertThat(listening.out().lines().filter(line -> line.startsWith("got m"))).hasSize(20);
      sending.stopWell();
      assertThat(owners("a")).isEmpty();
      listening.stopWell();
    }
  }

  /** The event bus of a member does not recover from the loss of all nodes; its program does. */
  @Test
  void aMemberOfTheBusComesBackWhenAllNodesWereDown() throws Exception {
    try (Node alone = new Node(own.resolve("alone"))) {
      alone.start();
      alone.createTopic("orders", 2);
      Object[] args = {
        CONSUMER,
        "--member",
        "--classpath",
        TESTS,
        "--conf",
        consumer("g", "orders"),
        "--cluster",
        alone.cluster()
      };
      try (Jar.Running running = run("member", args)) {
        awaitRunning(running, CONSUMER, 1);
        alone.kill();
        alone.start();
        alone.sendByKey("orders", List.of("a", "b"));
        alone.awaitConsumed("g", 2);
        assertThat(running.err()).contains("joining the event bus again").contains("runs again");
        assertThat(running.out()).containsOnlyOnce("evenkeel running");
        running.stopWell();
      }
    }
  }

  @Test
  void aDeploymentThatFailsIsOneLineAndStatus1() throws Exception {
    Object[] args = {
      CONSUMER,
      "--classpath",
      TESTS,
      "--conf",
      consumer("g", "nowhere"),
      "--cluster",
      node.cluster()
    };
    try (Jar.Running running = run("failing", args)) {
      Jar.Result ended = running.await();
      assertThat(ended.status()).isEqualTo(1);
      assertThat(ended.out()).doesNotContain("evenkeel running");
      assertThat(ended.err())
          .contains("evenkeel run: cannot deploy " + CONSUMER + ": there is no topic 'nowhere'")
          .doesNotContain("\tat ");
    }
    try (Jar.Running running =
        run(
            "away",
            "examples.HelloVerticle",
            "--member",
            "--cluster",
            "127.0.0.1:1",
            "--classpath",
            classes("examples.HelloVerticle"))) {
      Jar.Result ended = running.await();
      assertThat(ended.status()).isEqualTo(1);
      assertThat(ended.err())
          .contains("no node answers at 127.0.0.1:4, the port of Hazelcast")
          .contains("start a node with 'evenkeel serve'");
    }
  }
}
