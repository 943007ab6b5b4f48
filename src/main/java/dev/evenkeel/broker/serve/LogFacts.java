package dev.evenkeel.broker.serve;

import dev.evenkeel.bus.NodeLogs;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.LogStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What a node's own logs tell of themselves, as others may ask for it. */
final class LogFacts {
  private LogFacts() {}

  static NodeLogs of(LogNode log, String host) {
    List<NodeLogs.Group> groups = new ArrayList<>();
    log.all().forEach(each -> groups.add(group(each)));
    return new NodeLogs(log.nodeId(), host, groups);
  }

  private static NodeLogs.Group group(LogGroup group) {
    LogStatus status = group.status();
    return new NodeLogs.Group(
        status.group(),
        status.leadership().leader(),
        status.leadership().term(),
        status.leadership().ready(),
        status.commitIndex(),
        status.appliedIndex(),
        status.matchIndex(),
        ineligible(group));
  }

  private static Map<String, String> ineligible(LogGroup group) {
    Map<String, String> reasons = new TreeMap<>();
    group.eligibility().reasons().forEach((reason, detail) -> reasons.put(reason.name(), detail));
    return reasons;
  }
}
