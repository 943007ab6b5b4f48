package dev.evenkeel.broker.decide;

import dev.evenkeel.broker.state.MetaChange;
import dev.evenkeel.broker.state.MetaTables;
import dev.evenkeel.model.GroupInfo;
import dev.evenkeel.model.MetaCommand;
import dev.evenkeel.model.Names;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** Decides about groups. */
public final class GroupDecider {
  /** Most groups of a cluster. */
  public static final int GROUPS_MAX = 10_000;

  /** Most topics of a group. */
  public static final int GROUP_TOPICS_MAX = 1_000;

  private final MetaTables tables;

  public GroupDecider(MetaTables tables) {
    this.tables = tables;
  }

  public Decision<MetaChange> declare(MetaCommand.DeclareGroup command, long nowMillis) {
    String name = Names.check("group", command.name());
    command.policy().check();
    command.topics().forEach(topic -> Names.check("topic", topic));
    if (command.assignor() != null) {
      Names.check("assignor", command.assignor());
    }
    GroupInfo known = tables.group(name);
    if (known == null && tables.groups().size() >= GROUPS_MAX) {
      return Decision.refused(
          Refusal.TOO_LARGE, "there are " + GROUPS_MAX + " groups, no more are allowed");
    }
    String difference = known == null ? null : known.policy().differenceTo(command.policy());
    if (difference != null && !command.force()) {
      return Decision.refused(Refusal.GROUP_MISMATCH, "group '" + name + "' " + difference);
    }
    String assignor = command.assignor();
    if (assignor == null) {
      assignor = known == null ? GroupInfo.ASSIGNOR_DEFAULT : known.assignor();
    }
    if (known != null && !known.assignor().equals(assignor) && !command.force()) {
      return Decision.refused(
          Refusal.GROUP_MISMATCH,
          "group '" + name + "' uses assignor " + known.assignor() + ", not " + assignor);
    }
    TreeSet<String> topics = new TreeSet<>(command.topics());
    if (known != null) {
      topics.addAll(known.topics());
    }
    if (topics.size() > GROUP_TOPICS_MAX) {
      return Decision.refused(
          Refusal.TOO_LARGE,
          "group '" + name + "' with " + topics.size() + " topics: at most " + GROUP_TOPICS_MAX);
    }
    return put(
        new GroupInfo(
            name,
            command.policy(),
            List.copyOf(topics),
            known == null ? command.start() : known.start(),
            known == null ? nowMillis : known.createdMillis(),
            known == null ? nowMillis : Math.max(known.lastSeenMillis(), nowMillis),
            assignor));
  }

  public Decision<MetaChange> see(MetaCommand.SeeGroup command, long nowMillis) {
    GroupInfo known = tables.group(command.name());
    if (known == null) {
      return unknown(command.name());
    }
    return put(known.seenAt(Math.max(known.lastSeenMillis(), nowMillis)));
  }

  /**
   * Forgets the group, its lease and its moves: its epochs begin anew should it come back, so that
   * moves of its former life could not be told from those of the next. Its term may begin anew too:
   * the data groups have forgotten the group's leases before.
   */
  public Decision<MetaChange> forget(MetaCommand.ForgetGroup command) {
    if (tables.group(command.name()) == null) {
      return unknown(command.name());
    }
    List<MetaChange> changes = new ArrayList<>();
    changes.add(new MetaChange.RemoveGroup(command.name()));
    changes.add(new MetaChange.RemoveGroupLease(command.name()));
    tables
        .moves()
        .ofGroup(command.name())
        .forEach(number -> changes.add(new MetaChange.RemoveMove(number)));
    return Decision.of(changes);
  }

  private static Decision<MetaChange> put(GroupInfo group) {
    return new Decision<>(List.of(new MetaChange.PutGroup(group)), new Reply.OfGroup(group));
  }

  private static Decision<MetaChange> unknown(String group) {
    return Decision.refused(Refusal.UNKNOWN_GROUP, "there is no group '" + group + "'");
  }
}
