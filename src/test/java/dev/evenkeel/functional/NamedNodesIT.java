package dev.evenkeel.functional;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.TestPorts;
import dev.evenkeel.Wait;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three nodes as in Kubernetes: each known by a name that begins to exist while the node is waiting
 * for it, and listening at an address that the others never hear of.
 */
@Tag("full")
class NamedNodesIT {
  private static final String DOMAIN = ".nodes.some.svc";

  @TempDir Path directory;

  private final List<Jar.Running> nodes = new ArrayList<>();

  @AfterEach
  void end() {
    nodes.forEach(Jar.Running::close);
  }

  @Test
  void nodesWaitForNamesAndFindEachOtherByThem() throws IOException {
    Path hosts = Files.createFile(directory.resolve("hosts"));
    int port = TestPorts.take(4);
    int http = TestPorts.take(3);
    times(3, i -> nodes.add(start(hosts, i, port, http + i)));
    name(hosts, 0);
    name(hosts, 1);
    Wait.until(
        "they wait for the third name",
        () -> nodes.get(0).err().contains("waiting until names have an address: [pod-2"));
    assertThat(nodes).allMatch(node -> node.process.isAlive() && node.out().isEmpty());
    name(hosts, 2);
    for (Jar.Running node : nodes) {
      Wait.until(
          "ready", 180, () -> node.out().contains("evenkeel ready") || !node.process.isAlive());
      assertThat(node.out()).as(node.err()).contains("evenkeel ready node=pod-");
    }
    String url = "http://127.0.0.1:" + http;
    assertThat(Jar.run(directory, "topic", "create", "t", "--shards", "3", "--http", url))
        .returns(0, Jar.Result::status);
    Path input = Lines.write(directory.resolve("input.log"), 1_000, 10);
    assertThat(client(hosts, "produce", "t", input.toString(), "--cluster", seed(1, port)))
        .returns(0, Jar.Result::status);
    assertThat(
            client(hosts, "consume", "t", "--group=g", "--max=1000", "--cluster=" + seed(2, port))
                .lines())
        .hasSize(1_000);
    nodes.forEach(node -> node.process.destroy());
    nodes.forEach(node -> assertThat(node.await().status()).as(node.err()).isZero());
  }

  @Test
  void aNodeThatWaitsForItsNameEndsWhenItIsToldTo() throws IOException {
    Path hosts = Files.createFile(directory.resolve("hosts"));
    try (Jar.Running node = start(hosts, 0, TestPorts.take(4), TestPorts.take(1))) {
      Wait.until("it waits", () -> node.err().contains("waiting until names have an address"));
      Jar.Result result = node.stop();
      assertThat(result.status()).as(result.toString()).isZero();
      assertThat(result.out()).isEmpty();
    }
  }

  private static void name(Path hosts, int node) throws IOException {
    Files.writeString(
        hosts, "127.0.0." + (node + 1) + " pod-" + node + DOMAIN + "\n", StandardOpenOption.APPEND);
  }

  private static String seed(int node, int port) {
    return "pod-" + node + DOMAIN + ":" + port;
  }

  private Jar.Running start(Path hosts, int node, int port, int http) {
    String peers =
        IntStream.range(0, 3)
            .mapToObj(i -> "pod-" + i + "@" + seed(i, port))
            .collect(Collectors.joining(","));
    return Jar.startWith(
        directory,
        "pod-" + node,
        names(hosts),
        "serve",
        "--node=pod-" + node,
        "--host=127.0.0." + (node + 1),
        "--port=" + port,
        "--http-host=127.0.0.1",
        "--http-port=" + http,
        "--data=" + directory.resolve("data-" + node),
        "--peers=" + peers);
  }

  private Jar.Result client(Path hosts, String... args) {
    try (Jar.Running client = Jar.startWith(directory, args[0], names(hosts), args)) {
      return client.await();
    }
  }

  /** The JDK's own resolver with a file of ours, for all that look up names. */
  private static List<String> names(Path hosts) {
    return List.of(
        "-Xmx256m",
        "-Djdk.net.hosts.file=" + hosts,
        "-Dsun.net.inetaddr.negative.ttl=1",
        "-Dvertx.disableDnsResolver=true");
  }
}
