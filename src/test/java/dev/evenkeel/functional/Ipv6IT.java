package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.TestPorts;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Nodes whose addresses are IPv6 literals. */
@Tag("full")
class Ipv6IT {
  private static final String ADDRESS = "::1";

  @TempDir Path directory;

  private Node node(String id) {
    return Node.on(directory.resolve(id), ADDRESS, TestPorts.take(4), TestPorts.take(1));
  }

  @Test
  @Timeout(600)
  void threeNodesFormAClusterThatClientsUse() {
    List<Node> nodes = Stream.of("n1", "n2", "n3").map(this::node).toList();
    try (Trio trio = new Trio(directory, nodes).start()) {
      trio.node(1).createTopic("events", 6);
      trio.node(2).send("events", List.of("a", "b", "c"));
      Jar.Running consumer = trio.consume("m", "events", "g", "--max", "3");
      assertThat(consumer.await().out()).contains("\"a\"", "\"b\"", "\"c\"");
      assertThat(trio.produceLine("p", "events", "user-1 d").await().err())
          .contains("acked 1 of 1");
      // They find each other again by what they have noted.
      trio.node(3).stop();
      trio.node(3).start();
      trio.awaitCaughtUp(trio.node(3));
    }
  }

  @Test
  @Timeout(300)
  void aNodeJoinsALoneOne() {
    try (Node first = node("n1").with("--node", "n1").start();
        Node second = node("n2").with("--node", "n2", "--join", first.cluster()).start()) {
      assertThat(second.read("/api/cluster")).contains("\"n1\"", "\"n2\"");
    }
  }
}
