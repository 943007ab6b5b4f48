package dev.evenkeel.cluster;

import static dev.evenkeel.cluster.ClusterMembersTest.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.hazelcast.core.HazelcastInstance;
import dev.evenkeel.TestPorts;
import dev.evenkeel.Wait;
import dev.evenkeel.protocol.NodePorts;
import io.vertx.core.spi.cluster.NodeInfo;
import io.vertx.core.spi.cluster.RegistrationInfo;
import io.vertx.spi.cluster.hazelcast.impl.HazelcastNodeInfo;
import io.vertx.spi.cluster.hazelcast.impl.HazelcastRegistrationInfo;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MapRegistrationsTest {
  private static final String ADDRESS = "somewhere";

  private final Map<String, Long> strangers = new HashMap<>();

  private Set<String> gone(Set<String> registered, Set<String> members, long nowMillis) {
    return MapRegistrations.gone(registered, members, nowMillis, strangers);
  }

  @Test
  void onlyWhoIsNoMemberForLongIsTakenForGone() {
    long late = MapRegistrations.PATIENCE_MILLIS;
    assertThat(gone(Set.of("a", "b", "c"), Set.of("a"), 0)).isEmpty();
    assertThat(gone(Set.of("a", "b", "c"), Set.of("a", "c"), late - 1)).isEmpty();
    assertThat(gone(Set.of("a", "b", "c"), Set.of("a"), late)).containsExactly("b");
    assertThat(gone(Set.of("a", "c"), Set.of("a"), late + 1)).as("since it came back").isEmpty();
    assertThat(gone(Set.of("a", "c"), Set.of("a"), 2 * late)).containsExactly("c");
  }

  /** As it is after a part of the cluster in which the member was alive has brought its maps. */
  @Test
  void requestsGoToWhoIsThereAndNotInTurnToWhoHasGone() {
    int port = TestPorts.take(4);
    ClusterMember node = result(ClusterMembers.node(NodeSettings.lone(port)));
    try {
      ClusterMember client = result(LiteMember.join(port));
      result(
          client
              .vertx()
              .eventBus()
              .<String>consumer(ADDRESS, message -> message.reply("here"))
              .completion());
      HazelcastInstance hazelcast = instanceAt(port);
      var registrations = hazelcast.getMultiMap(MapRegistrations.REGISTRATIONS);
      registrations.put(
          ADDRESS, new HazelcastRegistrationInfo(new RegistrationInfo("gone", 1, false)));
      hazelcast
          .getMap(MapRegistrations.NODES)
          .put("gone", new HazelcastNodeInfo(new NodeInfo("127.0.0.1", TestPorts.take(1), null)));
      Wait.untilAsserted(
          () -> {
            assertThat(registrations.get(ADDRESS)).hasSize(1);
            assertThat(hazelcast.getMap(MapRegistrations.NODES).keySet()).doesNotContain("gone");
          });
      for (int i = 0; i < 4; i++) {
        assertThat(result(node.vertx().eventBus().<String>request(ADDRESS, "who")).body())
            .isEqualTo("here");
      }
      result(client.close());
    } finally {
      result(node.close());
    }
  }

  @Test
  void aNodeSaysAgainWhereItListensIfTheMapsHaveLostIt() {
    int port = TestPorts.take(4);
    ClusterMember node = result(ClusterMembers.node(NodeSettings.lone(port)));
    try {
      result(node.vertx().eventBus().consumer(ADDRESS, m -> m.reply("here")).completion());
      ClusterMember client = result(LiteMember.join(port));
      HazelcastInstance hazelcast = instanceAt(port);
      hazelcast.getMultiMap(MapRegistrations.REGISTRATIONS).remove(ADDRESS);
      hazelcast.getMap(MapRegistrations.NODES).delete(node.id());
      await()
          .atMost(Duration.ofSeconds(60))
          .ignoreExceptions()
          .until(
              () ->
                  result(client.vertx().eventBus().<String>request(ADDRESS, "who"))
                      .body()
                      .equals("here"));
      result(client.close());
    } finally {
      result(node.close());
    }
  }

  private static HazelcastInstance instanceAt(int port) {
    return TestHazelcast.at(NodePorts.hazelcast(port));
  }
}
