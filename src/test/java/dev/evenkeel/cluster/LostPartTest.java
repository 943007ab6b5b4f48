package dev.evenkeel.cluster;

import static dev.evenkeel.cluster.ClusterMembersTest.result;
import static org.awaitility.Awaitility.await;

import com.hazelcast.cluster.Member;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.instance.impl.HazelcastInstanceProxy;
import dev.evenkeel.TestPorts;
import dev.evenkeel.Wait;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.protocol.NodePorts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The oldest node falls silent together with many clients. The others must not wait for each of
 * them, and must find them again when they are back.
 */
class LostPartTest {
  private static final int LOST_CLIENTS = 12;

  /** Far less than the lost ones would take one after another, at 5 s each. */
  private static final Duration SOON = Duration.ofSeconds(35);

  @Test
  @Tag("full")
  void nodesGoOnWithoutThoseWhoFellSilentAndFindTogetherAgain() throws Exception {
    int lost = TestPorts.take(4);
    List<HostPort> peers = new ArrayList<>();
    peers.add(new HostPort("127.0.0.1", lost));
    List<ClusterMember> members = new ArrayList<>();
    try (LostPart part = new LostPart(lost)) {
      int two = TestPorts.take(4);
      peers.add(new HostPort("127.0.0.1", two));
      members.add(result(ClusterMembers.node(LostPart.settings(two, peers))));
      int three = TestPorts.take(4);
      peers.add(new HostPort("127.0.0.1", three));
      members.add(result(ClusterMembers.node(LostPart.settings(three, peers))));
      members.add(result(LiteMember.join(two, LostPart.CLUSTER)));
      part.addClients(LOST_CLIENTS);
      await("all are members").until(() -> all(members, 3, LOST_CLIENTS + 4));

      part.stop();
      suspectOldest(two);
      await("they go on").atMost(SOON).until(() -> all(members, 2, 3));
      // Whoever comes now is taken in.
      members.add(result(LiteMember.join(two, LostPart.CLUSTER)));
      await("the new client is a member").until(() -> all(members, 2, 4));

      part.goOn();
      // Hazelcast looks for other parts every 20 s or so, and then merges member by member.
      Wait.until("they are one cluster again", 180, () -> all(members, 3, LOST_CLIENTS + 5));
    } finally {
      members.forEach(member -> result(member.close()));
    }
  }

  /**
   * The next oldest member finds out first that the oldest one is silent. It then asks all others,
   * as it knows nothing of them yet.
   */
  private static void suspectOldest(int port) {
    for (HazelcastInstance each : Hazelcast.getAllHazelcastInstances()) {
      if (each.getCluster().getLocalMember().getAddress().getPort() == NodePorts.hazelcast(port)) {
        var cluster = ((HazelcastInstanceProxy) each).getOriginal().node.getClusterService();
        Member oldest = cluster.getMembers().iterator().next();
        cluster.suspectMember(oldest, "the test has stopped it", true);
      }
    }
  }

  private static boolean all(List<ClusterMember> members, int nodes, int all) {
    return members.stream()
        .allMatch(member -> member.dataMembers() == nodes && member.members().size() == all);
  }
}
