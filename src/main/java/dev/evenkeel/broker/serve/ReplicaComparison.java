package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.broker.node.ReplicaCheck;
import dev.evenkeel.bus.NodeLogs;
import dev.evenkeel.log.Eligibility.Reason;
import dev.evenkeel.log.LogGroup;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares this node's state of each log group with the states of the other nodes, and logs when
 * they differ. Keeps the node from leading a log group in which its state alone differs. Runs on
 * one context.
 */
final class ReplicaComparison {
  private static final Logger LOG = LoggerFactory.getLogger(ReplicaComparison.class);

  private final BrokerNode node;

  ReplicaComparison(BrokerNode node) {
    this.node = node;
  }

  /** Compares with the answers of the other nodes; nodes that did not answer are missing. */
  void look(Map<String, NodeLogs> answers) {
    for (LogGroup log : node.log().all()) {
      if (node.state(log.name()).digest() == null) {
        continue;
      }
      answers.forEach(
          (other, logs) ->
              logs.groups().stream()
                  .filter(
                      group ->
                          group.name().equals(log.name()) && group.condition().digest() != null)
                  .forEach(group -> compare(log, other, group)));
    }
  }

  private void compare(LogGroup log, String other, NodeLogs.Group its) {
    ReplicaCheck check = node.replicaCheck(log.name());
    ReplicaCheck.News news =
        check.heard(other, node.state(log.name()).digest(), its.condition().digest());
    if (news == ReplicaCheck.News.DIFFERS) {
      LOG.error(
          "log group {}: the state of this node differs from that of {} since {}: a bug, or a fault"
              + " of the memory or disk of one of them. See in 'cluster status' which node differs"
              + " from the others, keep its data directory and log, replace it, and report a bug",
          log.name(),
          other,
          check.differences().get(other));
    } else if (news == ReplicaCheck.News.EQUAL_AGAIN) {
      LOG.info(
          "log group {}: the state of this node differs no more from that of {}",
          log.name(),
          other);
    }
    List<String> others = node.others();
    String why = "its state differs from that of " + String.join(" and ", others);
    log.elections().eligibility().set(Reason.DIVERGED, check.odd(others) ? why : null);
  }
}
