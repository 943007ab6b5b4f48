package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.Replicas;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ThreeNodesTest {
  @TempDir Path temp;
  private final List<LogSettings.Peer> peers =
      List.of("a", "b", "c").stream().map(id -> TestNode.peer(id, TestNode.freePort())).toList();
  private final Map<String, TestNode> nodes = new TreeMap<>();

  @BeforeEach
  void startAll() throws LogStartException {
    for (String id : List.of("a", "b", "c")) {
      start(id);
    }
  }

  @AfterEach
  void stopAll() {
    nodes.values().forEach(TestNode::close);
  }

  @Test
  void agreeOnOneClusterAndHandLeadershipOver() throws Exception {
    assertThat(nodes.values().stream().map(n -> n.node.clusterId()).distinct()).hasSize(1);
    String leader = leader();
    String next =
        nodes.keySet().stream().filter(id -> !id.equals(leader)).findFirst().orElseThrow();
    nodes.get(leader).d0().handLeadershipTo(next).get();
    await().atMost(TestNode.PATIENCE).until(() -> leader().equals(next));
    CompletableFuture<ByteBuffer> refused = TestNode.append(nodes.get(leader).d0(), "x");
    assertThat(LoneNodeTest.refusalOf(refused)).isEqualTo(Refusal.NOT_LEADER);
    RefusedException refusal = (RefusedException) refused.handle((r, e) -> e).get();
    assertThat(refusal).hasMessage(next);
    TestNode.append(nodes.get(next).d0(), "y").get();
    await()
        .atMost(TestNode.PATIENCE)
        .untilAsserted(
            () ->
                assertThat(nodes.get(next).d0().status().matchIndex())
                    .containsOnlyKeys(
                        nodes.keySet().stream()
                            .filter(id -> !id.equals(next))
                            .toArray(String[]::new)));
  }

  @Test
  void anotherLeadsWhenTheLeaderIsGoneAndNothingIsLost() throws Exception {
    String first = leader();
    for (int i = 0; i < 20; i++) {
      TestNode.append(nodes.get(first).d0(), "e" + i).get();
    }
    nodes.remove(first).close();
    String second = leader();
    assertThat(second).isNotEqualTo(first);
    TestNode.append(nodes.get(second).d0(), "e20").get();
    List<String> expected = IntStream.rangeClosed(0, 20).mapToObj(i -> "e" + i).toList();
    assertThat(nodes.get(second).state("d0").entries()).isEqualTo(expected);
    start(first);
    await()
        .atMost(TestNode.PATIENCE)
        .untilAsserted(
            () -> assertThat(nodes.get(first).state("d0").entries()).isEqualTo(expected));
  }

  @Test
  void aFollowerThatMissedPurgedEntriesComesBackByASnapshot() throws Exception {
    String leader = leader();
    String away =
        nodes.keySet().stream().filter(id -> !id.equals(leader)).findFirst().orElseThrow();
    TestNode.append(nodes.get(leader).d0(), "first").get();
    nodes.remove(away).close();
    String large = "x".repeat(1 << 20);
    for (int i = 0; i < 30; i++) {
      TestNode.append(nodes.get(leader).d0(), large + i).get();
    }
    nodes.get(leader).d0().snapshot().get();
    TestNode.append(nodes.get(leader).d0(), "last").get();

    start(away);
    RocksState state = nodes.get(away).state("d0");
    await().atMost(TestNode.PATIENCE).until(() -> state.restores.get() > 0);
    await()
        .atMost(TestNode.PATIENCE)
        .untilAsserted(
            () ->
                assertThat(state.entries())
                    .isEqualTo(nodes.get(leader).state("d0").entries())
                    .hasSize(32));

    // It is a full member again, also after a restart of its own.
    nodes.remove(away).close();
    start(away);
    TestNode.append(nodes.get(leader()).d0(), "more").get();
    await()
        .atMost(TestNode.PATIENCE)
        .untilAsserted(
            () -> assertThat(nodes.get(away).state("d0").entries()).hasSize(33).endsWith("more"));
  }

  @Test
  void anEntryIsOnAllDisksOnlyWhenEachNodeHasIt() throws Exception {
    String leader = leader();
    String away =
        nodes.keySet().stream().filter(id -> !id.equals(leader)).findFirst().orElseThrow();
    TestNode.append(nodes.get(leader).d0(), "first").get();
    Replicas all = nodes.get(leader).d0().awaitReplicas(-1, 60_000).get();
    assertThat(all.missing()).isEmpty();
    assertThat(all.everywhere()).isPositive();
    assertThat(LoneNodeTest.refusalOf(nodes.get(away).d0().awaitReplicas(-1, 60_000)))
        .isEqualTo(Refusal.NOT_LEADER);

    nodes.remove(away).close();
    TestNode.append(nodes.get(leader).d0(), "second").get();
    long index = nodes.get(leader).d0().status().commitIndex();
    Replicas lacking = nodes.get(leader).d0().awaitReplicas(index, 100).get();
    assertThat(lacking.missing()).containsExactly(away);
    assertThat(lacking.everywhere()).isLessThan(index);

    CompletableFuture<Replicas> waiting = nodes.get(leader).d0().awaitReplicas(index, 60_000);
    start(away);
    assertThat(waiting.get().missing()).isEmpty();
    assertThat(nodes.get(leader).d0().awaitReplicas(index, 0).get().missing()).isEmpty();
  }

  @Test
  void withoutAMajorityAnAppendIsIndeterminateNotAcknowledged() throws Exception {
    String leader = leader();
    for (String id : List.copyOf(nodes.keySet())) {
      if (!id.equals(leader)) {
        nodes.remove(id).close();
      }
    }
    Refusal refusal = LoneNodeTest.refusalOf(TestNode.append(nodes.get(leader).d0(), "lost?"));
    assertThat(refusal).isIn(Refusal.INDETERMINATE, Refusal.NOT_LEADER);
    await().atMost(TestNode.PATIENCE).until(() -> !nodes.get(leader).d0().leadership().ready());
    assertThat(nodes.get(leader).node.failure()).isNotDone();
  }

  private void start(String id) throws LogStartException {
    Path home = temp.resolve(id);
    LogSettings settings = TestNode.settings(id, home, peers, 1, 1_000_000);
    nodes.put(id, new TestNode(settings, TestNode.live(home)));
  }

  /** Waits for one leader of d0 that is ready. */
  private String leader() {
    return await()
        .atMost(TestNode.PATIENCE)
        .until(
            () ->
                nodes.entrySet().stream()
                    .filter(e -> e.getValue().d0().leadership().ready())
                    .map(Map.Entry::getKey)
                    .findFirst()
                    .orElse(null),
            java.util.Objects::nonNull);
  }
}
