package dev.evenkeel.broker.serve;

import dev.evenkeel.bus.NodeLogs;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.LogStatus;
import java.util.ArrayList;
import java.util.List;

/** What a node's own logs tell of themselves, as others may ask for it. */
final class LogFacts {
  private LogFacts() {}

  static NodeLogs of(LogNode log, String host) {
    List<NodeLogs.Group> groups = new ArrayList<>();
    groups.add(group(log.meta()));
    log.data().forEach(each -> groups.add(group(each)));
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
        status.matchIndex());
  }
}
