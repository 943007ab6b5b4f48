package dev.evenkeel.cluster;

import static dev.evenkeel.cluster.ClusterMembersTest.result;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.TestPorts;
import dev.evenkeel.protocol.HostPort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A process that is held up, or a machine that swaps: the kernel takes connections for it, and
 * nobody answers. Members that look there for a lost part of their cluster go on with each other.
 */
class HungPeerTest {
  @Test
  void membersFindTogetherBesideAPeerThatTakesConnectionsAndNeverAnswers() throws IOException {
    int first = TestPorts.take(4);
    int second = TestPorts.take(4);
    int hung = TestPorts.take(4);
    List<HostPort> peers = List.of(local(first), local(second), local(hung));
    ClusterMember one = result(ClusterMembers.node(settings(first, peers)));
    try (ServerSocket socket =
        new ServerSocket(local(hung).hazelcast().port(), 50, InetAddress.getLoopbackAddress())) {
      socket.setSoTimeout(60_000);
      // It looks for other clusters every few seconds.
      try (Socket asked = socket.accept()) {
        await("the question has come").until(() -> asked.getInputStream().available() > 0);
        ClusterMember two =
            result(ClusterMembers.node(settings(second, List.of(local(first), local(second)))));
        try {
          await("they are one cluster").until(() -> one.dataMembers() == 2);
          await("they are one cluster").until(() -> two.dataMembers() == 2);
        } finally {
          result(two.close());
        }
      }
    } finally {
      result(one.close());
    }
  }

  private static HostPort local(int port) {
    return new HostPort("127.0.0.1", port);
  }

  private static NodeSettings settings(int port, List<HostPort> peers) {
    return new NodeSettings("127.0.0.1", "127.0.0.1", port, peers, "hung-peer");
  }
}
