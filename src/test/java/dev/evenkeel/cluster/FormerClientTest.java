package dev.evenkeel.cluster;

import static dev.evenkeel.cluster.ClusterMembersTest.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.instance.impl.HazelcastInstanceProxy;
import com.hazelcast.internal.cluster.impl.TcpIpJoiner;
import dev.evenkeel.TestPorts;
import dev.evenkeel.Wait;
import dev.evenkeel.protocol.NodePorts;
import org.junit.jupiter.api.Test;

/**
 * The kernel may give the port of a client that has gone to a client of another cluster of the same
 * name. A node that asked there whether it fell apart from that cluster would merge with it.
 */
class FormerClientTest {
  @Test
  void whereAClientWasNobodyLooksForAnotherCluster() {
    int port = TestPorts.take(4);
    ClusterMember node = result(ClusterMembers.node(NodeSettings.lone(port)));
    try {
      ClusterMember client = result(LiteMember.join(port));
      Wait.until(() -> node.members().size() == 2);
      TcpIpJoiner joiner = joinerAt(port);
      // The joiner is told beside the members, not before them.
      await().untilAsserted(() -> assertThat(joiner.getKnownMemberAddresses()).hasSize(1));
      result(client.close());
      Wait.until(() -> node.members().size() == 1);
      // Sooner than Hazelcast itself forgets it.
      Wait.untilAsserted(30, () -> assertThat(joiner.getFilteredPossibleAddresses()).isEmpty());
    } finally {
      result(node.close());
    }
  }

  private static TcpIpJoiner joinerAt(int port) {
    for (HazelcastInstance each : Hazelcast.getAllHazelcastInstances()) {
      if (each.getCluster().getLocalMember().getAddress().getPort() == NodePorts.hazelcast(port)) {
        return (TcpIpJoiner) ((HazelcastInstanceProxy) each).getOriginal().node.getJoiner();
      }
    }
    throw new AssertionError("no member at port " + port);
  }
}
