package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.TestCertificates;
import dev.evenkeel.Wait;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/** Three nodes, n1 to n3, each a process of its own, and the commands of their users. */
public final class Trio implements AutoCloseable {
  public final Path directory;
  public final List<Node> nodes;
  private final List<Jar.Running> clients = new ArrayList<>();

  /**
   * @param settings what each node is started with, beside its name and place
   */
  Trio(Path directory, String... settings) {
    this(
        directory,
        Stream.of("n1", "n2", "n3").map(id -> new Node(directory.resolve(id))).toList(),
        settings);
  }

  /** Nodes n1 to n3 that know their directories and addresses. */
  public Trio(Path directory, List<Node> nodes, String... settings) {
    this.directory = directory;
    this.nodes = nodes;
    String peers =
        nodes.stream()
            .map(node -> id(node) + "@" + node.cluster())
            .collect(Collectors.joining(","));
    nodes.forEach(node -> node.with("--node", id(node), "--peers", peers).with(settings));
  }

  /** Each node shows the others its certificate. */
  Trio withCertificates() {
    nodes.forEach(
        node ->
            node.with(
                "--peer-tls", TestCertificates.OURS.resolve("nodes").resolve(id(node)).toString()));
    return this;
  }

  public Trio start() {
    nodes.forEach(Node::begin);
    // One that has ended says why; the others would wait for it.
    nodes.forEach(node -> node.awaitReady(nodes));
    return this;
  }

  /** Starts the process of a node, 1 to 3, which may have to wait for the others. */
  public Node begin(int number, String... more) {
    Node node = node(number);
    node.begin(more);
    return node;
  }

  public void awaitReady(int number) {
    node(number).awaitReady();
  }

  public static String id(Node node) {
    return node.directory.getFileName().toString();
  }

  public Node node(String id) {
    return node(Integer.parseInt(id.substring(1)));
  }

  /** The node with the active dispatcher, as {@code asked} sees it; waits while there is none. */
  Node dispatcher(Node asked) {
    return node(
        Awaitility.await("an active dispatcher")
            .atMost(Duration.ofSeconds(60))
            .until(
                () -> new JsonObject(asked.read("/api/cluster")).getString("dispatcher"),
                Objects::nonNull));
  }

  /**
   * @param number 1 to 3
   */
  public Node node(int number) {
    return nodes.get(number - 1);
  }

  public List<Node> others(Node one) {
    return nodes.stream().filter(node -> node != one).toList();
  }

  /** All of them, for {@code --cluster}. */
  public String cluster() {
    return nodes.stream().map(Node::cluster).collect(Collectors.joining(","));
  }

  public Jar.Running consume(String name, String topic, String group, String... more) {
    return consumeInto(name, name, topic, group, more);
  }

  /** One of several runs of a member: its output is in files of their own. */
  public Jar.Running consumeInto(
      String files, String name, String topic, String group, String... more) {
    List<String> args = new ArrayList<>(List.of("consume", topic, "--group", group));
    args.addAll(List.of("--member", name, "--format", "json", "--cluster", cluster()));
    args.addAll(List.of(more));
    return kept(Jar.startInCrowd(directory, files, args.toArray(String[]::new)));
  }

  /** A producer that is fed on its standard input, by key as {@link Lines} are. */
  public Jar.Running produce(String name, String topic, int rate, String... more) {
    List<String> args = new ArrayList<>(List.of("produce", topic, "--key-regex", Lines.KEY_REGEX));
    args.addAll(List.of("--rate", String.valueOf(rate), "--cluster", cluster()));
    args.addAll(List.of(more));
    args.add("-");
    return kept(Jar.startFedInCrowd(directory, name, args.toArray(String[]::new)));
  }

  /** A producer of the lines of a file, by key. */
  public Jar.Running produceFile(String name, String topic, Path file, String... more) {
    List<String> args = new ArrayList<>(List.of("produce", topic, "--key-regex", Lines.KEY_REGEX));
    args.addAll(List.of("--cluster", cluster()));
    args.addAll(List.of(more));
    args.add(file.toString());
    return kept(Jar.startInCrowd(directory, name, args.toArray(String[]::new)));
  }

  private Jar.Running kept(Jar.Running client) {
    clients.add(client);
    return client;
  }

  /** A producer of one line, at rest until it ends. */
  public Jar.Running produceLine(String name, String topic, String line, String... more) {
    Jar.Running producer = produce(name, topic, 1_000, more);
    try (OutputStream input = producer.process.getOutputStream()) {
      input.write((line + "\n").getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return producer;
  }

  /** Waits until the node has applied in every log group what the others had when asked. */
  public void awaitCaughtUp(Node node) {
    Map<String, Long> goal =
        Awaitility.await("the others have noted what they have applied")
            .atMost(Duration.ofSeconds(60))
            .until(() -> appliedByOthers(node), marks -> !marks.isEmpty());
    Wait.until(
        id(node) + " has applied " + goal,
        150,
        () -> {
          Map<String, Long> now = applied(node);
          return goal.entrySet().stream()
              .allMatch(entry -> now.getOrDefault(entry.getKey(), -1L) >= entry.getValue());
        });
  }

  private Map<String, Long> appliedByOthers(Node node) {
    Map<String, Long> marks = new HashMap<>();
    for (Node other : others(node)) {
      if (other.process().process.isAlive()) {
        applied(other).forEach((group, index) -> marks.merge(group, index, Math::max));
      }
    }
    return marks;
  }

  /** The last entry that a node has applied in each log group, as it notes beside its logs. */
  public static Map<String, Long> applied(Node node) {
    Map<String, Long> marks = new HashMap<>();
    try {
      for (String line : Files.readAllLines(node.directory.resolve("data/raft/applied"))) {
        String[] words = line.split(" ");
        if (words.length >= 3) {
          marks.put(words[0], Long.parseLong(words[2]));
        }
      }
    } catch (NoSuchFileException e) {
      // It has not noted any yet.
      return marks;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return marks;
  }

  public static void signal(Node node, String name) {
    try {
      Process kill = new ProcessBuilder("kill", "-" + name, String.valueOf(node.pid())).start();
      assertThat(kill.onExit().join().exitValue()).isZero();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    // At once and without looking at what they printed: the test has said what it had to say.
    clients.forEach(client -> client.process.destroyForcibly());
    try {
      Replicas.assertEqual(nodes);
    } finally {
      nodes.forEach(Node::close);
    }
  }
}
