package dev.evenkeel.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.hazelcast.core.HazelcastInstance;
import dev.evenkeel.Fails;
import dev.evenkeel.TestPorts;
import dev.evenkeel.Wait;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.protocol.NodePorts;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ClusterMembersTest {
  private static final Duration LONG = Duration.ofSeconds(60);

  private final List<ClusterMember> members = new ArrayList<>();

  @AfterEach
  void leave() {
    for (int i = members.size() - 1; i >= 0; i--) {
      result(members.get(i).close());
    }
  }

  @Test
  void aLoneNodeStartsAndSharesTables() {
    ClusterMember node = node(TestPorts.take(4));
    assertThat(node.members()).containsExactly(node.id());
    assertThat(node.dataMembers()).isEqualTo(1);

    result(node.registry().put("g/m", new JsonObject().put("a", 1)));
    assertThat(result(node.registry().all()))
        .isEqualTo(Map.of("g/m", new JsonObject().put("a", 1)));
    assertThat(result(node.ownership().all())).isEmpty();
    result(node.registry().remove("g/m"));
    assertThat(result(node.registry().all())).isEmpty();
    result(node.ownership().put("g/t/0", new JsonObject()));
    result(node.ownership().clear());
    assertThat(result(node.ownership().all())).isEmpty();
  }

  @Test
  void anApplicationsMemberHoldsNoDataAndIsReachedOverTheEventBus() {
    int port = TestPorts.take(4);
    ClusterMember node = node(port);
    List<ClusterMember.Change> changes = new java.util.concurrent.CopyOnWriteArrayList<>();
    node.onChange(changes::add);
    ClusterMember client = client(port);
    assertThat(client.dataMembers()).isEqualTo(1);
    Wait.until(() -> node.members().size() == 2);
    assertThat(node.dataMembers()).isEqualTo(1);

    result(
        node.vertx()
            .eventBus()
            .consumer("echo", message -> message.reply(message.body()))
            .completion());
    Buffer answer =
        (Buffer) result(client.vertx().eventBus().request("echo", Buffer.buffer("hello"))).body();
    assertThat(answer.toString()).isEqualTo("hello");

    String id = client.id();
    members.remove(client);
    result(client.close());
    Wait.untilAsserted(() -> assertThat(changes).contains(new ClusterMember.Change(id, true, 1)));
  }

  @Test
  void twoNodesFindEachOtherAndOneSeesTheOtherLeave() {
    int first = TestPorts.take(4);
    int second = TestPorts.take(4);
    List<HostPort> peers =
        List.of(new HostPort("127.0.0.1", first), new HostPort("127.0.0.1", second));
    var one = ClusterMembers.node(new NodeSettings("127.0.0.1", "127.0.0.1", first, peers, "pair"));
    Future<ClusterMember> two =
        ClusterMembers.node(new NodeSettings("127.0.0.1", "127.0.0.1", second, peers, "pair"));
    members.add(result(one));
    members.add(result(two));
    Wait.until(() -> result(one).dataMembers() == 2);
    Wait.until(() -> result(two).dataMembers() == 2);
    result(result(one).registry().put("k", new JsonObject().put("v", 1)));
    // The other is given its copy after it has joined.
    Wait.until(() -> hazelcastAt(first).getPartitionService().isClusterSafe());
    members.remove(result(one));
    result(result(one).close());
    Wait.until(() -> result(two).dataMembers() == 1);
    assertThat(result(result(two).registry().all())).containsKey("k");
  }

  @Test
  void aBusyPortIsNamedWithARemedy() {
    int port = TestPorts.take(4);
    node(port);
    assertThatThrownBy(() -> result(ClusterMembers.node(NodeSettings.lone(port))))
        .isInstanceOf(RefusedException.class)
        .hasMessage(
            "port " + NodePorts.hazelcast(port) + " on 127.0.0.1 is in use: choose another one");
  }

  @Test
  void aPlainVertxIsRefused() {
    Vertx vertx = Vertx.vertx();
    Fails.saying(() -> result(ClusterMembers.of(vertx)), "not clustered by Hazelcast");
    result(vertx.close());
  }

  @Test
  void anApplicationsOwnVertxIsTakenAsItIs() {
    int port = TestPorts.take(4);
    node(port);
    ClusterMember client = client(port);
    ClusterMember own = result(ClusterMembers.of(client.vertx()));
    assertThat(own.id()).isEqualTo(client.id());
    result(own.close());
    assertThat(client.dataMembers()).isEqualTo(1);
  }

  private static HazelcastInstance hazelcastAt(int port) {
    return TestHazelcast.at(NodePorts.hazelcast(port));
  }

  private ClusterMember node(int port) {
    ClusterMember node = result(ClusterMembers.node(NodeSettings.lone(port)));
    members.add(node);
    return node;
  }

  private ClusterMember client(int port) {
    ClusterMember client = result(LiteMember.join(port));
    members.add(client);
    return client;
  }

  static <T> T result(Future<T> future) {
    try {
      return future
          .toCompletionStage()
          .toCompletableFuture()
          .get(LONG.toSeconds(), TimeUnit.SECONDS);
    } catch (java.util.concurrent.ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new AssertionError(e.getCause());
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
