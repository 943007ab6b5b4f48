package dev.evenkeel.functional;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;

/** Three nodes, n1 to n3, that are to form one cluster; none is started at first. */
final class Trio implements AutoCloseable {
  final Path directory;
  private final List<Node> nodes = new ArrayList<>();
  private final String peers;

  Trio(Path directory) {
    this.directory = directory;
    List<String> each = new ArrayList<>();
    for (int i = 1; i <= 3; i++) {
      Node node = new Node(directory.resolve("n" + i));
      nodes.add(node);
      each.add("n" + i + "@" + node.cluster());
    }
    peers = String.join(",", each);
  }

  /**
   * @param number 1 to 3
   */
  Node node(int number) {
    return nodes.get(number - 1);
  }

  List<Node> nodes() {
    return nodes;
  }

  /** Starts the process of a node, which may have to wait for the others. */
  Node begin(int number, String... more) {
    List<String> args = new ArrayList<>(List.of("--node", "n" + number, "--peers", peers));
    args.addAll(List.of(more));
    node(number).begin(args.toArray(String[]::new));
    return node(number);
  }

  /** Starts all and waits until each is ready. */
  Trio startAll() {
    for (int i = 1; i <= 3; i++) {
      begin(i);
    }
    awaitAllReady();
    return this;
  }

  void awaitAllReady() {
    for (int i = 1; i <= 3; i++) {
      awaitReady(i);
    }
  }

  /** With more patience than for a lone node: three start side by side, and agree. */
  void awaitReady(int number) {
    Jar.Running process = node(number).process();
    Awaitility.await("n" + number + " is ready")
        .atMost(Duration.ofMinutes(4))
        .pollInterval(Duration.ofMillis(50))
        .until(() -> process.out().contains("evenkeel ready") || !process.process.isAlive());
    node(number).awaitReady();
  }

  /** Addresses of all, for clients. */
  String cluster() {
    return String.join(",", nodes.stream().map(Node::cluster).toList());
  }

  @Override
  public void close() {
    nodes.forEach(Node::close);
  }
}
