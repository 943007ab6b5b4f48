package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Wait;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.protocol.VoterId;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nodes open a log group that the cluster was not formed with, one after another. */
class AddedGroupTest {
  private static final List<String> FOUNDERS =
      ThreeTestNodes.IDS.stream().map(id -> VoterId.of(id, "0a")).toList();

  @TempDir Path temp;
  private final ThreeTestNodes nodes = new ThreeTestNodes(() -> temp);

  @AfterEach
  void close() {
    nodes.close();
  }

  private void add(String id) throws Exception {
    nodes.running.get(id).node.addGroup(FOUNDERS);
  }

  private LogGroup d1(String id) {
    return nodes.running.get(id).node.data().get(1);
  }

  private String leader() {
    return await()
        .atMost(TestNode.PATIENCE)
        .until(
            () ->
                nodes.running.keySet().stream()
                    .filter(id -> nodes.running.get(id).node.data().size() > 1)
                    .filter(id -> d1(id).leadership().ready())
                    .findFirst()
                    .orElse(null),
            leader -> leader != null);
  }

  private void append(String text) throws Exception {
    TestNode.append(d1(leader()), text).get(60, TimeUnit.SECONDS);
  }

  @Test
  void aMajorityOfTheFoundersServesAndTheOthersCatchUp() throws Exception {
    nodes.startAll();
    for (String id : nodes.running.keySet()) {
      nodes.running.get(id).node.setPeers(nodes.running.get(id).node.peers());
    }
    add("a");
    add("b");
    append("early");
    add("c");
    for (String id : ThreeTestNodes.IDS) {
      LogNode node = nodes.running.get(id).node;
      assertThat(node.formedGroups()).isEqualTo(1);
      assertThat(node.data()).hasSize(2);
      Wait.until(() -> d1(id).voters().names().equals(FOUNDERS));
      Wait.until(() -> d1(id).status().appliedIndex() >= d1(leader()).status().commitIndex());
    }

    // Each finds it again.
    ThreeTestNodes.IDS.forEach(id -> nodes.stop(id));
    nodes.startAll();
    append("late");
    assertThat(nodes.running.get("c").node.data()).hasSize(2);
  }

  @Test
  void aNodeThatLostItsVoteDoesNotFoundTheGroupAgain() throws Exception {
    nodes.startAll();
    for (String id : ThreeTestNodes.IDS) {
      nodes.running.get(id).node.setPeers(nodes.running.get(id).node.peers());
      add(id);
    }
    append("first");
    String gone =
        ThreeTestNodes.IDS.stream().filter(id -> !id.equals(leader())).findFirst().orElseThrow();
    await()
        .atMost(TestNode.PATIENCE)
        .ignoreExceptions()
        .until(
            () -> {
              d1(leader()).voters().remove(gone, null).get(10, TimeUnit.SECONDS);
              return true;
            });
    await()
        .atMost(TestNode.PATIENCE)
        .ignoreExceptions()
        .until(
            () -> {
              TestNode node = nodes.running.get(gone);
              node.node.dropCopy(d1(gone), -1).get(10, TimeUnit.SECONDS);
              return true;
            });
    nodes.stop(gone);
    nodes.start(gone);
    assertThat(d1(gone).voters().names()).as("it waits for a vote").isEmpty();
    append("second");
    assertThat(d1(leader()).voters().names()).hasSize(2);
  }

  @Test
  void aNodeThatDiedWhileItOpenedTheGroupOpensItAtItsNextStart() throws Exception {
    nodes.startAll();
    for (String id : ThreeTestNodes.IDS) {
      nodes.running.get(id).node.setPeers(nodes.running.get(id).node.peers());
    }
    nodes.stop("a");
    Path directory = nodes.home("a").resolve("log");
    ClusterFile.read(directory).adding(FOUNDERS).write(directory);
    nodes.start("a");
    assertThat(ClusterFile.read(directory).founders()).isNull();
    add("b");
    append("by two");
  }
}
