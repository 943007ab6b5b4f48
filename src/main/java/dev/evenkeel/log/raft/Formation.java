package dev.evenkeel.log.raft;

import dev.evenkeel.log.NodeInfo;
import dev.evenkeel.log.NodeInfo.Stage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * Decides how several empty nodes form one cluster: from this node's stage and the answers of the
 * others, what to do next. The node with the lowest id begins:
 *
 * <pre>
 * lowest  EMPTY    every other is empty (or AGREED to something nobody opened)  → AGREED, with a new
 *                  cluster id and the incarnations that answered as the voters
 * lowest  AGREED   every other has agreed to the same                           → OPENING
 * lowest  AGREED   one of them is another incarnation than was agreed           → AGREED, anew
 * other   EMPTY    the lowest has agreed, with this incarnation as a voter      → AGREED
 * other   AGREED   the lowest has agreed anew, with this incarnation            → AGREED
 * any     AGREED   one is OPENING or FORMED in the same cluster                 → OPENING
 * any     EMPTY, or AGREED to something else: one is OPENING or FORMED          → waits to be taken in
 * any     OPENING  opens its logs and is FORMED, without asking anybody
 * </pre>
 *
 * <p>Nobody opens a log before the lowest node has OPENING on its disk, and whoever is OPENING
 * never agrees to anything else. A voter's name holds the random incarnation of its directory, so a
 * directory that was lost cannot be followed by another that votes under its name.
 */
final class Formation {
  private Formation() {}

  /** What to do next. */
  sealed interface Step {
    /** Write this to disk, then tell the other nodes. */
    record Become(NodeInfo info) implements Step {}

    /** Open the logs. */
    record Open() implements Step {}

    /**
     * Ask again after a pause.
     *
     * @param reason which nodes are missing, for people
     */
    record Wait(String reason) implements Step {}

    /** A cluster has formed without this directory: ask again, and wait to be taken in. */
    record AwaitReplacement(String reason) implements Step {}

    /** The settings are wrong. */
    record Refuse(String message) implements Step {}
  }

  /**
   * @param answers of the other nodes by id; nodes that did not answer are missing
   * @param newClusterId makes a new id
   */
  static Step next(NodeInfo self, Map<String, NodeInfo> answers, Supplier<String> newClusterId) {
    if (self.stage().mayHaveVoted()) {
      return new Step.Open();
    }
    for (NodeInfo other : answers.values()) {
      String difference = difference(self, other);
      if (difference != null) {
        return new Step.Refuse(difference);
      }
    }
    for (NodeInfo other : answers.values()) {
      if (other.stage().mayHaveVoted()) {
        return self.stage() == Stage.AGREED && self.clusterId().equals(other.clusterId())
            ? new Step.Become(self.with(Stage.OPENING))
            : new Step.AwaitReplacement(
                String.format(
                    "this directory is empty, but the cluster has formed without it: if it lost "
                        + "its data for good, run 'evenkeel cluster replace %s'",
                    self.node()));
      }
    }
    String lowest = self.peers().get(0);
    return lowest.equals(self.node())
        ? lead(self, answers, newClusterId)
        : follow(self, answers.get(lowest), lowest);
  }

  private static Step lead(
      NodeInfo self, Map<String, NodeInfo> answers, Supplier<String> newClusterId) {
    TreeSet<String> missing = new TreeSet<>(self.peers());
    missing.removeAll(answers.keySet());
    missing.remove(self.node());
    if (!missing.isEmpty()) {
      return new Step.Wait("waiting for " + names(missing) + " to form the cluster together");
    }
    List<String> voters = voters(self, answers);
    if (self.stage() != Stage.AGREED || !self.voters().equals(voters)) {
      return new Step.Become(self.agreed(newClusterId.get(), voters));
    }
    TreeSet<String> undecided = new TreeSet<>();
    for (NodeInfo other : answers.values()) {
      if (other.stage() != Stage.AGREED || !self.clusterId().equals(other.clusterId())) {
        undecided.add(other.node());
      }
    }
    return undecided.isEmpty()
        ? new Step.Become(self.with(Stage.OPENING))
        : new Step.Wait("waiting for " + names(undecided) + " to agree on the cluster");
  }

  private static List<String> voters(NodeInfo self, Map<String, NodeInfo> answers) {
    List<String> voters = new ArrayList<>();
    voters.add(self.voter());
    answers.values().forEach(other -> voters.add(other.voter()));
    return voters.stream().sorted().toList();
  }

  private static Step follow(NodeInfo self, NodeInfo lowest, String lowestId) {
    if (lowest == null) {
      return new Step.Wait("waiting for node " + lowestId + " to form the cluster together");
    }
    boolean agreedAnew =
        lowest.stage() == Stage.AGREED
            && !lowest.clusterId().equals(self.clusterId())
            && lowest.voters().contains(self.voter());
    return agreedAnew
        ? new Step.Become(self.agreed(lowest.clusterId(), lowest.voters()))
        : new Step.Wait("waiting for node " + lowestId + " to hear from every node");
  }

  /** Why the two nodes can never form one cluster, or null. */
  private static String difference(NodeInfo self, NodeInfo other) {
    if (!self.peers().equals(other.peers())) {
      return String.format(
          "node %s was started with the peers %s, node %s with %s: give every node the "
              + "same list of peers",
          self.node(), self.peers(), other.node(), other.peers());
    }
    if (self.dataGroups() != other.dataGroups()) {
      return String.format(
          "node %s was started with %s data groups, node %s with %s: give every node the "
              + "same number of data groups",
          self.node(), self.dataGroups(), other.node(), other.dataGroups());
    }
    return null;
  }

  private static String names(TreeSet<String> nodes) {
    return (nodes.size() == 1 ? "node " : "nodes ") + String.join(", ", nodes);
  }
}
