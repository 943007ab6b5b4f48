package dev.evenkeel.cluster;

import static dev.evenkeel.cluster.ClusterMembersTest.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.hazelcast.config.Config;
import com.hazelcast.core.HazelcastInstance;
import dev.evenkeel.TestPorts;
import dev.evenkeel.Wait;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.protocol.NodePorts;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.EventBusOptions;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Nodes reach each other by what the member list says, whatever the shared maps of vertx-hazelcast
 * hold. Who looks only into the maps finds the nodes, too.
 */
class MemberListTest {
  private static final String HOST = "127.0.0.1";
  private static final Duration LONG = Duration.ofSeconds(60);

  /** A request that is dropped somewhere is seen by this deadline. */
  private static final DeliveryOptions DEADLINE = new DeliveryOptions().setSendTimeout(5_000);

  private final String name = "member-list-" + TestPorts.take(1);
  private final List<HostPort> places = new ArrayList<>();
  private final Map<String, ClusterMember> nodes = new HashMap<>();
  private Vertx application;

  @AfterEach
  void leave() {
    if (application != null) {
      result(application.close());
    }
    nodes.values().forEach(node -> result(node.close()));
  }

  private HostPort place() {
    HostPort place = new HostPort(HOST, TestPorts.take(4));
    places.add(place);
    return place;
  }

  private ClusterMember join(String node, HostPort place) {
    return join(
        node,
        place,
        new NodeAddresses(
            node, Addresses.ofNode(node), Addresses::nodeOf, Addresses.EVERY_NODE::contains));
  }

  /** Nodes of former versions have no names. */
  private ClusterMember join(String node, HostPort place, NodeAddresses addresses) {
    ClusterMember member =
        result(
            ClusterMembers.node(
                new NodeSettings(HOST, HOST, place.port(), places, name, null, null, addresses)));
    nodes.put(node, member);
    return member;
  }

  /** Three nodes that say at their addresses who they are. */
  private void trio() {
    List<HostPort> own = List.of(place(), place(), place());
    for (int i = 0; i < 3; i++) {
      String node = "n" + (i + 1);
      serve(join(node, own.get(i)), node);
    }
    awaitAll(3);
  }

  private void awaitAll(int members) {
    nodes.values().forEach(node -> Wait.until(() -> sees(node, members)));
  }

  private static boolean sees(ClusterMember member, int members) {
    return member.members().size() == members;
  }

  private static void serve(ClusterMember member, String node) {
    Addresses.ofNode(node)
        .forEach(
            address ->
                result(
                    member
                        .vertx()
                        .eventBus()
                        .consumer(address, message -> message.reply(node))
                        .completion()));
  }

  private static void assertReaches(Vertx from, String address, String node) {
    assertThat(result(from.eventBus().<String>request(address, "who", DEADLINE)).body())
        .as(address)
        .isEqualTo(node);
  }

  private void assertAllReachAll() {
    nodes.values().forEach(each -> assertReachesAll(each.vertx()));
  }

  private void assertReachesAll(Vertx from) {
    for (String node : nodes.keySet()) {
      Addresses.ofNode(node).forEach(address -> assertReaches(from, address, node));
    }
  }

  private void clearMaps() {
    HazelcastInstance hazelcast = instanceAt(places.get(0));
    hazelcast.getMultiMap(MapRegistrations.REGISTRATIONS).clear();
    hazelcast.getMap(MapRegistrations.NODES).clear();
  }

  private static HazelcastInstance instanceAt(HostPort place) {
    return TestHazelcast.at(NodePorts.hazelcast(place.port()));
  }

  private static Vertx plainApplication(HostPort node, String clusterName) {
    Config config = TestHazelcast.lite(clusterName, HOST, node.hazelcast().toString());
    return result(
        Vertx.builder()
            .with(
                new VertxOptions()
                    .setEventBusOptions(new EventBusOptions().setHost(HOST).setPort(0)))
            .withClusterManager(new HazelcastClusterManager(config))
            .buildClustered());
  }

  @Test
  void nodesReachEachOtherWithoutAnyEntryInTheMaps() {
    trio();
    clearMaps();
    assertAllReachAll();
    Set<String> heard = ConcurrentHashMap.newKeySet();
    nodes.forEach(
        (node, member) ->
            member
                .vertx()
                .eventBus()
                .consumer(Addresses.LEASE_CHANGES, message -> heard.add(node)));
    clearMaps();
    nodes.get("n1").vertx().eventBus().publish(Addresses.LEASE_CHANGES, "news");
    Wait.untilAsserted(
        "what is for every node comes to every node",
        () -> assertThat(heard).containsExactlyInAnyOrder("n1", "n2", "n3"));
  }

  @Test
  void aNodeThatCameBackIsReachedWhileTheMapsLoseEverything() {
    trio();
    assertAllReachAll();
    result(nodes.remove("n2").close());
    for (ClusterMember left : nodes.values()) {
      Wait.until(() -> sees(left, 2));
      assertNobodyServes(left.vertx(), Addresses.control("n2"));
    }
    ClusterMember back = join("n2", places.get(1));
    serve(back, "n2");
    awaitAll(3);
    clearMaps();
    assertAllReachAll();
  }

  /** A request from elsewhere to an address without a handler is dropped by the event bus. */
  @Test
  void whatANodeDoesNotServeIsRefusedAtOnce() {
    HostPort first = place();
    HostPort second = place();
    Vertx one = join("n1", first).vertx();
    Vertx two = join("n2", second).vertx();
    awaitAll(2);
    String address = Addresses.control("n2");
    assertNobodyServes(one, address);
    MessageConsumer<Object> consumer =
        two.eventBus().consumer(address, message -> message.reply("n2"));
    result(consumer.completion());
    assertReaches(one, address, "n2");
    assertReaches(one, address, "n2");
    result(consumer.unregister());
    assertNobodyServes(one, address);
    assertNobodyServes(one, Addresses.control("nobody"));
  }

  private static void assertNobodyServes(Vertx from, String address) {
    Wait.untilAsserted(
        address,
        () -> {
          ReplyException failure =
              result(
                  from.eventBus()
                      .request(address, "who", DEADLINE)
                      .<ReplyException>map(answer -> null)
                      .otherwise(each -> (ReplyException) each));
          assertThat(failure).isNotNull();
          assertThat(failure.failureType()).isEqualTo(ReplyFailure.NO_HANDLERS);
        });
  }

  @Test
  void applicationsAndNodesOfFormerVersionsFindEachOtherByTheMaps() {
    HostPort first = place();
    HostPort second = place();
    serve(join("n1", first), "n1");
    serve(join("old", second, NodeAddresses.NONE), "old");
    awaitAll(2);
    application = plainApplication(first, name);
    result(application.eventBus().consumer("mine", message -> message.reply("mine")).completion());
    awaitAll(3);
    assertAllReachAll();
    assertReachesAll(application);
    nodes.values().forEach(node -> assertReaches(node.vertx(), "mine", "mine"));
    clearMaps();
    await("the entries of the nodes are back")
        .atMost(LONG)
        .ignoreExceptions()
        .untilAsserted(
            () -> {
              assertAllReachAll();
              assertReachesAll(application);
            });
  }
}
