package dev.evenkeel.dispatcher.core;

import dev.evenkeel.model.GroupInfo;
import dev.evenkeel.model.MetaCommand;
import dev.evenkeel.model.StartAt;
import java.util.List;
import java.util.TreeSet;

/** What a group's record is after a command, if the log's answer did not carry it. */
final class GroupInfos {
  private GroupInfos() {}

  static GroupInfo after(GroupInfo before, MetaCommand command, long nowMillis) {
    if (command instanceof MetaCommand.DeclareGroup declare) {
      TreeSet<String> topics = new TreeSet<>(declare.topics());
      if (before != null) {
        topics.addAll(before.topics());
      }
      StartAt start = before == null ? declare.start() : before.start();
      long created = before == null ? nowMillis : before.createdMillis();
      String assignor = declare.assignor();
      if (assignor == null) {
        assignor = before == null ? GroupInfo.ASSIGNOR_DEFAULT : before.assignor();
      }
      return new GroupInfo(
          declare.name(),
          declare.policy(),
          List.copyOf(topics),
          start,
          created,
          nowMillis,
          assignor);
    }
    return before == null ? null : before.seenAt(nowMillis);
  }
}
