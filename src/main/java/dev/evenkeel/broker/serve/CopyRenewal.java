package dev.evenkeel.broker.serve;

import dev.evenkeel.bus.NodeLogs;
import dev.evenkeel.log.Eligibility.Reason;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import java.util.List;
import java.util.Map;

/**
 * Gives this node's damaged copies of log groups up, so that they are copied anew (ADR 30), once
 * all other nodes answer, agree about the leader, and have nothing against their own copies: while
 * the node copies, it has no vote, and the log group cannot do without another one.
 */
final class CopyRenewal {
  private final LogNode log;

  CopyRenewal(LogNode log) {
    this.log = log;
  }

  /** Looks at the answers of the other nodes; nodes that did not answer are missing. */
  void look(Map<String, NodeLogs> answers) {
    for (LogGroup group : log.all()) {
      if (group.elections().eligibility().reasons().containsKey(Reason.DAMAGED)
          && mayGiveUp(group.name(), group.leadership().leader(), others(group), answers)) {
        group.copy().copyAnew();
      }
    }
  }

  private List<String> others(LogGroup group) {
    return group.voters().nodes().stream().filter(node -> !node.equals(log.nodeId())).toList();
  }

  /**
   * Whether the log group does well without this node.
   *
   * @param leader node id, or null
   */
  static boolean mayGiveUp(
      String group, String leader, List<String> others, Map<String, NodeLogs> answers) {
    return leader != null
        && others.size() > 1
        && others.contains(leader)
        && others.stream().allMatch(node -> isSound(group, leader, answers.get(node)));
  }

  private static boolean isSound(String group, String leader, NodeLogs answer) {
    return answer != null
        && answer.groups().stream()
            .anyMatch(
                its ->
                    its.name().equals(group)
                        && leader.equals(its.leader())
                        && its.condition().ineligible().isEmpty());
  }
}
