package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.log.NodeInfo;
import dev.evenkeel.log.NodeInfo.Stage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class FormationTest {
  private static final List<String> NODES = List.of("n1", "n2", "n3");

  @Test
  void differingPeersOrGroupsAreToldWithBothNodes() {
    NodeInfo self = empty("n2", "b");
    NodeInfo other = new NodeInfo("n1", "a", Stage.EMPTY, null, List.of(), List.of("n1", "n2"), 3);
    assertThat(next(self, other))
        .isEqualTo(
            new Formation.Step.Refuse(
                "node n2 was started with the peers [n1, n2, n3], node n1 with [n1, n2]: give every"
                    + " node the same list of peers"));
    NodeInfo groups = new NodeInfo("n1", "a", Stage.EMPTY, null, List.of(), NODES, 5);
    assertThat(next(self, groups))
        .isEqualTo(
            new Formation.Step.Refuse(
                "node n2 was started with 3 data groups, node n1 with 5: give every node the same"
                    + " number of data groups"));
  }

  @Test
  void saysForWhomItWaits() {
    assertThat(next(empty("n1", "a"), empty("n3", "c")))
        .isEqualTo(new Formation.Step.Wait("waiting for node n2 to form the cluster together"));
    assertThat(next(empty("n2", "b"), empty("n3", "c")))
        .isEqualTo(new Formation.Step.Wait("waiting for node n1 to form the cluster together"));
  }

  @Test
  void nobodyAgreesWhileOneIsMissing() {
    assertThat(next(empty("n1", "a"), empty("n2", "b"))).isInstanceOf(Formation.Step.Wait.class);
    assertThat(next(empty("n1", "a"))).isInstanceOf(Formation.Step.Wait.class);
  }

  @Test
  void anEmptyNodeThatFindsAClusterWaitsToBeTakenIn() {
    List<String> voters = List.of("n1@a", "n2@b", "n3@c");
    for (Stage stage : List.of(Stage.OPENING, Stage.FORMED)) {
      NodeInfo formed = new NodeInfo("n3", "c", stage, "id", voters, NODES, 3);
      Formation.Step step = next(empty("n1", "new"), formed, empty("n2", "b"));
      assertThat(step).isInstanceOf(Formation.Step.AwaitReplacement.class);
      assertThat(((Formation.Step.AwaitReplacement) step).reason())
          .contains("evenkeel cluster replace n1");
    }
  }

  @Test
  void whoMayHaveVotedAsksNobody() {
    NodeInfo opening = new NodeInfo("n2", "b", Stage.OPENING, "id", List.of("n2@b"), NODES, 3);
    assertThat(next(opening)).isEqualTo(new Formation.Step.Open());
  }

  /**
   * Nodes take steps on answers that may be old by then, crash, and lose their directories, at any
   * moment. Nobody votes under a name that another directory voted under, no two clusters have a
   * majority of voters, and when it calms down the cluster forms, unless a directory was lost that
   * somebody counts on who has opened the logs.
   */
  @Property(tries = 2_000)
  void formsOnceWhateverHappens(@ForAll long seed) {
    Random dice = new Random(seed);
    World world = new World();
    int turns = 20 + dice.nextInt(200);
    int faults = dice.nextInt(6);
    for (int turn = 0; turn < turns; turn++) {
      String node = NODES.get(dice.nextInt(NODES.size()));
      if (faults > 0 && dice.nextInt(15) == 0) {
        faults--;
        if (dice.nextBoolean()) {
          world.wipe(node);
        } else {
          world.crash(node);
        }
      } else if (dice.nextInt(3) > 0) {
        world.hear(node, NODES.get(dice.nextInt(NODES.size())));
      } else {
        world.step(node);
      }
      world.check();
    }
    for (int round = 0; round < 12; round++) {
      for (String node : NODES) {
        NODES.forEach(other -> world.hear(node, other));
        world.step(node);
        world.check();
      }
    }
    if (!world.lostVoter()) {
      assertThat(world.infos.values()).allMatch(info -> info.stage() == Stage.FORMED);
      assertThat(world.infos.values().stream().map(NodeInfo::clusterId).distinct()).hasSize(1);
    }
  }

  /** Three nodes with their disks, and what each heard of the others last. */
  private static final class World {
    final Map<String, NodeInfo> infos = new TreeMap<>();
    final Map<String, Map<String, NodeInfo>> heard = new HashMap<>();

    /** Cluster and voter → the directory that opened the logs under that name. */
    final Map<String, Integer> opened = new HashMap<>();

    final Map<String, Integer> directories = new HashMap<>();
    private int count;
    private int clusters;

    World() {
      NODES.forEach(this::fresh);
    }

    private void fresh(String node) {
      infos.put(node, empty(node, "i" + ++count));
      directories.put(node, count);
      heard.put(node, new HashMap<>());
    }

    void wipe(String node) {
      fresh(node);
    }

    /** Somebody opened the logs, and a directory that is to vote with it is gone. */
    boolean lostVoter() {
      List<String> there = infos.values().stream().map(NodeInfo::voter).toList();
      return infos.values().stream()
          .anyMatch(info -> info.stage().mayHaveVoted() && !there.containsAll(info.voters()));
    }

    /** What is on disk stays; an empty node has nothing there. */
    void crash(String node) {
      heard.put(node, new HashMap<>());
      if (infos.get(node).stage() == Stage.EMPTY) {
        fresh(node);
      }
    }

    void hear(String node, String other) {
      if (!node.equals(other)) {
        heard.get(node).put(other, infos.get(other));
      }
    }

    void step(String node) {
      NodeInfo self = infos.get(node);
      Formation.Step step = Formation.next(self, heard.get(node), () -> "cluster" + ++clusters);
      // Each decision is made on answers of its own.
      heard.put(node, new HashMap<>());
      if (step instanceof Formation.Step.Become become) {
        infos.put(node, become.info());
      } else if (step instanceof Formation.Step.Open) {
        Integer before = opened.put(self.clusterId() + "/" + self.voter(), directories.get(node));
        assertThat(before == null || before.equals(directories.get(node)))
            .as("another directory voted as %s", self.voter())
            .isTrue();
        assertThat(self.voters()).contains(self.voter());
        infos.put(node, self.with(Stage.FORMED));
      }
    }

    /** Directories that are there now and may vote in one cluster, against all its voters. */
    void check() {
      Set<String> withMajority = new HashSet<>();
      Map<String, List<String>> voting = new HashMap<>();
      for (NodeInfo info : infos.values()) {
        if (info.stage().mayHaveVoted()) {
          voting.computeIfAbsent(info.clusterId(), id -> new ArrayList<>()).add(info.voter());
        }
      }
      voting.forEach(
          (cluster, voters) -> {
            if (voters.size() * 2 > NODES.size()) {
              withMajority.add(cluster);
            }
          });
      assertThat(withMajority).hasSizeLessThanOrEqualTo(1);
    }
  }

  private static NodeInfo empty(String node, String incarnation) {
    return new NodeInfo(node, incarnation, Stage.EMPTY, null, List.of(), NODES, 3);
  }

  private static Formation.Step next(NodeInfo self, NodeInfo... answers) {
    Map<String, NodeInfo> byNode = new HashMap<>();
    for (NodeInfo answer : answers) {
      byNode.put(answer.node(), answer);
    }
    return Formation.next(self, byNode, () -> "new-id");
  }
}
