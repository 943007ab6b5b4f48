package dev.evenkeel.seconduser;

import static dev.evenkeel.Futures.await;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.Wait;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.Admin;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.TopicSettings;
import dev.evenkeel.functional.Footprint;
import dev.evenkeel.functional.Jar;
import dev.evenkeel.functional.NodeWithUsers;
import dev.evenkeel.functional.Program;
import dev.evenkeel.functional.Surroundings;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.util.tls.TlsFiles;
import dev.evenkeel.util.tls.TlsIdentity;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A node as a company has it, with a heap of 1 GiB, an honest user, and others who have a token:
 *
 * <ul>
 *   <li>{@code nobody} may see topic {@code zzz}, which does not exist, and nothing else.
 *   <li>{@code member} may send to and consume topics of its own, in groups of its own.
 *   <li>{@code owner} may also administrate them.
 *   <li>{@code peer} may see everything.
 * </ul>
 */
final class TwoUsers implements AutoCloseable {
  private static final int LOOKS = 10_000;
  private static final int DEAD = 500;
  private static final String OWN =
      "produce:evil*,consume:evil*,group:evil*,view:evil*,produce:shared,consume:shared";

  /** As in k8s. */
  private static final List<String> JVM = List.of("-Xmx1g", "-XX:+ExitOnOutOfMemoryError");

  private static final Path TEST_CLASSES = Path.of("target/test-classes").toAbsolutePath();

  private final Path directory;
  final NodeWithUsers node;
  final HonestUser honest;
  private final JsonObject target;
  private int attacks;

  /**
   * @param jvmOptions of the node, beside those that a company has
   * @param patience what takes longer has failed
   */
  TwoUsers(Path directory, List<String> jvmOptions, Duration patience) throws Exception {
    this.directory = directory;
    List<String> jvm = new ArrayList<>(JVM);
    jvm.addAll(jvmOptions);
    node =
        new NodeWithUsers(directory)
            .inJvm(jvm)
            .user("operator", "produce:*,consume:*,group:*,view:*,admin:*")
            .user(
                "shop",
                "produce:honest,consume:honest,produce:http,consume:http,consume:looks,group:shop*,"
                    + "produce:shared,consume:shared,view:honest")
            .user("nobody", "view:zzz")
            .user("member", OWN)
            .user("owner", OWN + ",admin:evil*")
            .user("peer", OWN + ",view:*")
            .start();
    JsonObject topics = createTopics();
    fillEvil();
    JsonObject tokens = new JsonObject();
    for (String user : List.of("nobody", "member", "owner", "peer")) {
      tokens.put(user, node.tokenFile(user).toString());
    }
    var tls = TlsIdentity.open(TlsFiles.trusting(Path.of(NodeWithUsers.CA))).context();
    honest =
        new HonestUser(
            node.options("shop"),
            new HonestHttp(tls, node.node().httpPort, node.token("shop"), patience),
            patience.toMillis());
    target =
        Target.describe(
            node.node().port,
            node.node().httpPort,
            NodeWithUsers.CA,
            tokens,
            topics,
            honest.session());
    honest.start();
  }

  private JsonObject createTopics() {
    EvenkeelClient client = await(Evenkeel.connect(node.options("operator")));
    try {
      Admin admin = client.admin();
      Map<String, Integer> shards =
          Map.of(
              "honest",
              3,
              "http",
              1,
              "looks",
              1,
              "shared",
              1,
              "evil",
              2,
              "evil-packed",
              1,
              "evil-quiet",
              64);
      shards.forEach((name, count) -> await(admin.createTopic(name, count)));
      await(admin.createTopic("evil-full", 1, new TopicSettings().setShardBytesMax(1L << 20)));
      Producer producer = await(client.producer(new ProducerOptions().setTopic("looks")));
      List<Future<?>> sent = new ArrayList<>();
      for (int i = 0; i < LOOKS; i++) {
        sent.add(producer.send("k" + i % 100, new byte[100]));
      }
      await(Future.all(sent));
      JsonObject numbers = new JsonObject();
      Link link = await(Evenkeel.link(node.options("operator")));
      // Before that, it does not matter yet whose a producer is.
      Wait.until("all features", () -> view(link).featureLevel() >= FeatureLevel.PRODUCER_OWNERS);
      view(link).topics().forEach(topic -> numbers.put(topic.name(), topic.id()));
      await(link.close());
      return numbers;
    } finally {
      await(client.close());
    }
  }

  /** Group evil has dead letters. */
  private void fillEvil() {
    EvenkeelClient client = await(Evenkeel.connect(node.options("owner")));
    try {
      Producer producer = await(client.producer(new ProducerOptions().setTopic("evil")));
      List<Future<?>> sent = new ArrayList<>();
      for (int i = 0; i < DEAD; i++) {
        sent.add(producer.send("k" + i, new byte[1_000]));
      }
      await(Future.all(sent));
      await(
          client.consumer(
              new ConsumerOptions()
                  .setGroup("evil")
                  .setTopics(List.of("evil"))
                  .setBreaker(false)
                  .setOnFailure(ConsumerOptions.OnFailure.DEAD_LETTER),
              delivery -> Future.failedFuture("meant to fail")));
      Wait.until(
          "dead letters",
          () ->
              Long.valueOf(DEAD)
                  .equals(await(client.admin().group("evil")).failures().deadLetters()));
    } finally {
      await(client.close());
    }
  }

  private static ClusterView view(Link link) {
    return ClusterView.fromJson(
        await(link.request(Addresses.VIEW, Buffer.buffer(), 10_000)).toJsonObject());
  }

  /** For attackers in this process. */
  Target target() throws Exception {
    return new Target(target);
  }

  /**
   * Starts a process that attacks, after those before it, and waits until it has begun.
   *
   * @param scale see {@link Lane}
   */
  Jar.Running attack(List<Attack> by, int seconds, double scale) throws Exception {
    String name = "attacker-" + ++attacks;
    Path file = directory.resolve(name + ".json");
    Files.writeString(file, target.encode());
    Jar.Running attacker =
        Program.startFedWithJar(
            new Surroundings(List.of("nice", "-n", "19"), Map.of()),
            directory,
            name,
            List.of("-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
            TEST_CLASSES,
            AttackerMain.class.getName(),
            file.toString(),
            String.valueOf(seconds),
            String.valueOf(scale),
            String.join(",", by.stream().map(Attack::name).toList()));
    Wait.until(
        "it attacks",
        () -> attacker.out().contains(AttackerMain.BEGUN) || !attacker.process.isAlive());
    return attacker;
  }

  /**
   * What the node has now.
   *
   * @param sockets open ones, those at which it listens included
   * @param liveBytes of the heap, after a collection
   */
  record Holds(long sockets, long liveBytes) {}

  Holds holds() throws Exception {
    return new Holds(sockets(), Footprint.of(node.node().pid()).liveBytes());
  }

  long sockets() throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc/" + node.node().pid() + "/fd"))) {
      return open.filter(TwoUsers::isSocket).count();
    }
  }

  private static boolean isSocket(Path open) {
    try {
      return Files.readSymbolicLink(open).toString().startsWith("socket:");
    } catch (IOException e) {
      // It was closed meanwhile.
      return false;
    }
  }

  boolean lives() {
    return node.node().process().process.isAlive();
  }

  @Override
  public void close() throws Exception {
    try {
      honest.close();
    } finally {
      node.close();
    }
  }
}
