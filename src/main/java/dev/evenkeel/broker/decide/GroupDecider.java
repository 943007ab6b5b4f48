package dev.evenkeel.broker.decide;

import static dev.evenkeel.protocol.Refusal.FENCED;
import static dev.evenkeel.protocol.Refusal.GROUP_MISMATCH;
import static dev.evenkeel.protocol.Refusal.TOO_LARGE;
import static dev.evenkeel.protocol.Refusal.UNKNOWN_GROUP;

import dev.evenkeel.broker.state.MetaChange;
import dev.evenkeel.broker.state.MetaTables;
import dev.evenkeel.broker.state.SharedTable;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.GroupPattern;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides about groups and about the leases of whole groups.
 *
 * <p>The term only grows, and no two runs ever have the same one. A lease that is granted for the
 * first time begins above the terms of all groups that were forgotten: one of them may have had the
 * same name.
 *
 * <pre>
 *              grant (compare and set: term + 1)
 * free @ term ----------------------------------> held @ term + 1 --+ grant to another: term + 1
 *      ^                                            |       ^-------+
 *      `---- release by the holder of that term ----'
 * </pre>
 */
public record GroupDecider(MetaTables tables) {
  /** Most topics of a group in a cluster in which a node may be of a former version. */
  public static final int GROUP_TOPICS_MAX_FORMER = 1_000;

  public Decision<MetaChange> declare(MetaCommand.DeclareGroup command, long nowMillis) {
    command.check();
    String name = command.name();
    GroupInfo known = tables.group(name);
    int groupsMax = SharedTable.GROUPS.max();
    if (known == null && tables.groups().size() >= groupsMax) {
      return Decision.refused(TOO_LARGE, "there are " + groupsMax + " groups, no more are allowed");
    }
    String difference = known == null ? null : known.policy().differenceTo(command.policy());
    if (difference != null && !command.force()) {
      return Decision.refused(GROUP_MISMATCH, "group '" + name + "' " + difference);
    }
    String assignor = command.assignor();
    if (assignor == null) {
      assignor = known == null ? GroupInfo.ASSIGNOR_DEFAULT : known.assignor();
    }
    if (known != null && !known.assignor().equals(assignor) && !command.force()) {
      return Decision.refused(
          GROUP_MISMATCH,
          "group '" + name + "' uses assignor " + known.assignor() + ", not " + assignor);
    }
    long activeMillis = tables.counters().activeMillis();
    GroupInfo next =
        new GroupInfo(
                name,
                command.policy(),
                known == null ? Collections.emptySortedMap() : known.subscriptions(),
                known == null ? command.start() : known.start(),
                known == null ? nowMillis : known.createdMillis(),
                activeMillis,
                assignor,
                known == null ? Collections.emptySortedMap() : known.patterns())
            .seenWith(command.patterns(), activeMillis);
    GroupInfo taken = next.taking(command.topics(), activeMillis);
    int topics = taken.subscriptions().size();
    int max =
        tables.featureLevel() < FeatureLevel.TOPIC_PATTERNS
            ? GROUP_TOPICS_MAX_FORMER
            : Limits.TOPICS_MAX;
    if (topics > max) {
      return Decision.refused(
          TOO_LARGE, "group '" + name + "' with " + topics + " topics: at most " + max);
    }
    List<String> more = new ArrayList<>(command.topics());
    more.addAll(takenIn(taken, known, command.patterns()));
    // Broadcast has no pauses.
    return put(
        next,
        more,
        next.policy().isBroadcast() ? new PauseDecider(tables).ofGroup(name) : List.of());
  }

  /**
   * Members have subscribed to patterns. What a new one takes in now is read from now on. Later
   * topics come to be read when they are made; see {@link TopicDecider#activate}.
   *
   * @param group as it is going to be
   * @param known as it was; null: it is new
   */
  private List<String> takenIn(
      GroupInfo group, @Nullable GroupInfo known, List<GroupPattern> patterns) {
    List<GroupPattern> fresh =
        patterns.stream()
            .filter(each -> known == null || !known.patterns().containsKey(each))
            .toList();
    int room = Limits.TOPICS_MAX - group.subscriptions().size();
    return fresh.isEmpty()
        ? List.of()
        : tables.topics().stream()
            .filter(topic -> topic.state() == TopicInfo.State.ACTIVE)
            .map(TopicInfo::name)
            .filter(topic -> !group.reads(topic))
            .filter(topic -> fresh.stream().anyMatch(pattern -> pattern.takesIn(topic)))
            .limit(room)
            .toList();
  }

  /** Topics and patterns that the group has not declared are left out. */
  public Decision<MetaChange> see(MetaCommand.SeeGroup command) {
    GroupInfo known = tables.group(command.name());
    if (known == null) {
      return unknown(command.name());
    }
    List<String> topics = new ArrayList<>(command.topics());
    topics.retainAll(known.subscriptions().keySet());
    List<GroupPattern> patterns = new ArrayList<>(command.patterns());
    patterns.retainAll(known.patterns().keySet());
    long activeMillis = tables.counters().activeMillis();
    return put(known.seenAt(activeMillis, topics).seenWith(patterns, activeMillis));
  }

  /**
   * Forgets the group, its lease, its moves and its pauses. If it comes back, its terms continue
   * above all that it ever had.
   */
  public Decision<MetaChange> forget(MetaCommand.ForgetGroup command) {
    if (tables.group(command.name()) == null) {
      return unknown(command.name());
    }
    List<MetaChange> changes = new ArrayList<>();
    removeTopicRows(command.name(), changes);
    changes.add(MetaChange.removeGroup(command.name()));
    changes.addAll(
        tables.owners().removal(new SharedTable.Row(SharedTable.GROUPS, command.name())));
    changes.add(MetaChange.removeGroupLease(command.name()));
    long term = tables.groupLease(command.name()).term();
    changes.add(MetaChange.putCounters(tables.counters().aboveTerm(term)));
    tables
        .moves()
        .ofGroup(command.name())
        .forEach(number -> changes.add(MetaChange.removeMove(number)));
    changes.addAll(new PauseDecider(tables).ofGroup(command.name()));
    return Decision.of(changes);
  }

  /** Changes only the group's record and its pauses: moves of the topic stay in the history. */
  public Decision<MetaChange> forget(MetaCommand.ForgetTopic command) {
    GroupInfo known = tables.group(command.group());
    if (known == null) {
      return unknown(command.group());
    }
    return known.reads(command.topic())
        ? put(
            known.without(command.topic()),
            new PauseDecider(tables).ofGroup(command.group(), command.topic()))
        : Decision.unchanged(new Reply.OfGroup(known));
  }

  public Decision<MetaChange> forget(MetaCommand.ForgetPattern command) {
    GroupInfo known = tables.group(command.group());
    if (known == null) {
      return unknown(command.group());
    }
    return known.patterns().containsKey(command.pattern())
        ? put(known.without(command.pattern()))
        : Decision.unchanged(new Reply.OfGroup(known));
  }

  private Decision<MetaChange> put(GroupInfo group) {
    return put(group, List.of());
  }

  private Decision<MetaChange> put(GroupInfo group, List<MetaChange> more) {
    List<MetaChange> changes = new ArrayList<>(more);
    removeTopicRows(group.name(), changes);
    changes.add(MetaChange.putGroup(group));
    return new Decision<>(changes, new Reply.OfGroup(group));
  }

  /**
   * Writes the record, or only what is new in it if that is topics alone.
   *
   * @param topics which the group reads, too, and which members want now
   */
  private Decision<MetaChange> put(GroupInfo group, List<String> topics, List<MetaChange> more) {
    long activeMillis = tables.counters().activeMillis();
    GroupInfo next = group.taking(topics, activeMillis);
    if (tables.featureLevel() < FeatureLevel.ADDED_TOPICS
        || !group.equals(tables.group(group.name()))) {
      return put(next, more);
    }
    List<MetaChange> changes = new ArrayList<>(more);
    topics.stream()
        .filter(topic -> !group.readsAt(topic, activeMillis))
        .distinct()
        .forEach(topic -> changes.add(MetaChange.addTopic(group.name(), topic, activeMillis)));
    return new Decision<>(changes, new Reply.OfGroup(next));
  }

  /** The group's record is written as a whole, or goes. */
  private void removeTopicRows(String group, List<MetaChange> changes) {
    for (String topic : tables.topicRows(group)) {
      changes.add(MetaChange.removeTopicRow(group, topic));
    }
  }

  private static Decision<MetaChange> unknown(String group) {
    return Decision.refused(UNKNOWN_GROUP, "there is no group '" + group + "'");
  }

  /**
   * @param logTerm term of the command's entry
   */
  public Decision<MetaChange> grant(MetaCommand.GrantGroupLease command, long logTerm) {
    command.check();
    String instance = command.instance();
    if (tables.group(command.group()) == null) {
      return unknown(command.group());
    }
    if (command.dispatcherTerm() != 0 && command.dispatcherTerm() != logTerm) {
      return Decision.refused(
          FENCED,
          "a dispatcher of term %s grants the lease of group '%s', and the meta log is at term %s",
          command.dispatcherTerm(),
          command.group(),
          logTerm);
    }
    GroupLease lease = tables.groupLease(command.group());
    long expected = command.expectedTerm();
    if (lease.heldBy(instance, expected == 0 ? lease.term() : expected + 1)) {
      // The answer to the same grant was lost.
      return Decision.unchanged(new Reply.OfGroupLease(lease));
    }
    if (lease.term() != expected) {
      return fenced(lease, expected);
    }
    if (expected == 0) {
      lease = new GroupLease(lease.group(), tables.counters().termFloor(), null, null);
    }
    return put(lease.granted(command.holder(), instance));
  }

  public Decision<MetaChange> release(MetaCommand.ReleaseGroupLease command) {
    if (tables.group(command.group()) == null) {
      return unknown(command.group());
    }
    GroupLease lease = tables.groupLease(command.group());
    if (!lease.held() && lease.term() == command.term()) {
      return Decision.unchanged(new Reply.OfGroupLease(lease));
    }
    if (!lease.heldBy(command.instance(), command.term())) {
      return fenced(lease, command.term());
    }
    return put(lease.released());
  }

  private static Decision<MetaChange> put(GroupLease lease) {
    return new Decision<>(List.of(MetaChange.putGroupLease(lease)), new Reply.OfGroupLease(lease));
  }

  private static Decision<MetaChange> fenced(GroupLease lease, long term) {
    return Decision.refused(
        FENCED,
        "term %s of group '%s': its lease is at term %s%s",
        term,
        lease.group(),
        lease.term(),
        lease.held() ? ", held by " + lease.holder() : ", held by nobody");
  }
}
