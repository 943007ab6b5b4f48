package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.broker.node.ReplicaCheck;
import dev.evenkeel.bus.NodeLogs;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.LogStatus;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What a node's own logs tell of themselves, as others may ask for it. */
final class LogFacts {
  private LogFacts() {}

  static NodeLogs of(BrokerNode node) {
    LogNode log = node.log();
    List<NodeLogs.Group> groups = new ArrayList<>();
    log.all().forEach(each -> groups.add(group(node, each)));
    NodeLogs.Levels levels =
        new NodeLogs.Levels(FeatureLevel.reads(), node.meta().tables().featureLevel());
    return new NodeLogs(log.nodeId(), node.host(), groups, levels);
  }

  private static NodeLogs.Group group(BrokerNode node, LogGroup group) {
    LogStatus status = group.status();
    return new NodeLogs.Group(
        status.group(),
        status.leadership().leader(),
        status.leadership().term(),
        status.leadership().ready(),
        status.commitIndex(),
        status.appliedIndex(),
        status.matchIndex(),
        new NodeLogs.Condition(
            ineligible(group),
            node.state(group.name()).digest(),
            differs(node.replicaCheck(group.name()))));
  }

  private static Map<String, String> differs(ReplicaCheck check) {
    Map<String, String> nodes = new TreeMap<>();
    check.differences().forEach((node, place) -> nodes.put(node, "since " + place));
    return nodes;
  }

  private static Map<String, String> ineligible(LogGroup group) {
    Map<String, String> reasons = new TreeMap<>();
    group.eligibility().reasons().forEach((reason, detail) -> reasons.put(reason.name(), detail));
    return reasons;
  }
}
