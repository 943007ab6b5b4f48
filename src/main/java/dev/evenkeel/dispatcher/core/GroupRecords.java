package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupPattern;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Keeps the groups' records in the meta log: declares groups, marks them as seen, reads the
 * records, and has groups forgotten that were absent for long. At most one command about a group is
 * on its way.
 */
final class GroupRecords {
  private final DispatcherState state;
  private final ActiveTime time;
  private final Forgetting forgetting;

  /** Groups that this dispatcher has marked as seen while it did not know the time. */
  private final Set<GroupState> seenBeforeTime = new HashSet<>();

  /** Grows when a record is gone. */
  private long forgotten;

  GroupRecords(DispatcherState state, ActiveTime time, ShardLeases leases) {
    this.state = state;
    this.time = time;
    forgetting = new Forgetting(state, leases, this::write);
  }

  /** What is being forgotten. */
  Forgetting forgetting() {
    return forgetting;
  }

  /**
   * Records the group as {@code beat} wants it.
   *
   * @param force also with another policy or with another assignor than before
   */
  void declare(Heartbeat beat, boolean force) {
    GroupState group = state.make(beat.group());
    if (!group.metaBusy()) {
      List<String> topics = declared(group, group.reading(beat));
      write(
          group,
          beat.user(),
          new MetaCommand.DeclareGroup(
              beat.group(),
              beat.policy(),
              topics,
              beat.start(),
              force,
              beat.wishes().assignor(),
              group.topics().patterns(beat)));
    }
  }

  /**
   * The topics that the record lacks, and those to be marked as seen: what the command adds does
   * not grow with what the group reads. If there are too many, another command follows.
   */
  private List<String> declared(GroupState group, GroupTopics.Reading reading) {
    List<String> topics = new ArrayList<>();
    reading.missing().stream().limit(group.topics().atOnce()).forEach(topics::add);
    if (group.info() != null && mustBeSeen(group, reading.wanted())) {
      topics.addAll(seenLongAgo(group.info(), reading.read()));
    }
    return List.copyOf(topics);
  }

  private void write(GroupState group, MetaCommand command) {
    write(group, null, command);
  }

  /**
   * @param user whose group it is if there is none of that name yet; null: nobody's
   */
  private void write(GroupState group, String user, MetaCommand command) {
    group.metaBusy(true);
    long mark = group.recordMark();
    boolean owned = user != null && state.level >= FeatureLevel.TABLE_OWNERS;
    state.out.writeMeta(
        owned ? new MetaCommand.ByUser(user, command) : command,
        (reply, nowMillis) -> written(group, command, mark, reply, nowMillis));
  }

  private void written(
      GroupState group, MetaCommand command, long mark, Reply reply, long nowMillis) {
    if (reply instanceof Reply.OfGroup) {
      group.recordShown(mark);
    }
    group.metaBusy(false);
    if (!state.has(group)) {
      return;
    }
    if (reply instanceof Reply.Refused refused) {
      refused(group, command, refused);
    } else if (command instanceof MetaCommand.ForgetGroup) {
      recordForgotten(group);
    } else {
      if (reply instanceof Reply.OfGroup of) {
        group.subscriptions().subscribed(group.show(of.group()));
        group.resubscribe();
      }
      if (command instanceof MetaCommand.DeclareGroup c) {
        group.topics().taken(c.topics().size());
      }
      if (command instanceof MetaCommand.DeclareGroup && !time.known()) {
        seenBeforeTime.add(group);
      }
      if (command instanceof MetaCommand.ForgetTopic c) {
        forgetting.subscriptionGone(group, c.topic(), nowMillis);
      }
      state.waiting.recorded(group.name());
    }
  }

  private void recordForgotten(GroupState group) {
    forgotten++;
    group.forgetLease();
    state.moves.forget(group.name());
    forgetting.recordGone(group);
  }

  private void refused(GroupState group, MetaCommand command, Reply.Refused refused) {
    if (command instanceof MetaCommand.ForgetGroup) {
      if (refused.refusal() == Refusal.UNKNOWN_GROUP) {
        recordForgotten(group);
        return;
      }
      forgetting.refused(group, null, refused);
    } else if (command instanceof MetaCommand.ForgetTopic c) {
      forgetting.refused(group, c.topic(), refused);
    }
    if (refused.refusal() == Refusal.UNKNOWN_GROUP) {
      group.show(null);
    }
    if (command instanceof MetaCommand.DeclareGroup && refused.refusal().retriable()) {
      group.doubtRecord();
    }
    boolean tooLarge = refused.refusal() == Refusal.TOO_LARGE;
    if (tooLarge && command instanceof MetaCommand.DeclareGroup c && !group.topics().full()) {
      tooManyTopics(group, c, refused.detail());
      return;
    }
    if (!tooLarge) {
      read();
    }
    boolean mismatch = tooLarge || refused.refusal() == Refusal.GROUP_MISMATCH;
    for (WaitingHeartbeats.Arrival each : state.waiting.ofGroup(group.name())) {
      state.out.refuse(
          each.request(),
          mismatch ? refused.refusal() : Refusal.UNAVAILABLE,
          mismatch
              ? refused.detail()
              : "the group cannot be recorded now (" + refused.refusal() + "): try again");
    }
    if (tooLarge && group.isNothing()) {
      state.remove(group.name());
    }
  }

  /** With fewer topics, or without further ones, the group is not refused. */
  private void tooManyTopics(GroupState group, MetaCommand.DeclareGroup command, String detail) {
    if (group.topics().refused(command.topics().size()) && group.info() != null) {
      state.out.add(new DispatcherAction.TopicsLeftOut(group.name(), detail));
    }
    state.waiting.recorded(group.name());
  }

  void read() {
    long begun = forgotten;
    Map<GroupState, Long> marks = new HashMap<>();
    state.groups().stream()
        .filter(group -> !group.metaBusy())
        .forEach(group -> marks.put(group, group.recordMark()));
    state.out.ask(
        DispatcherAction.ReadGroups::new,
        (infos, nowMillis) -> {
          if (infos != null && begun == forgotten) {
            read(marks, infos);
          }
        });
  }

  /**
   * @param marks of groups when the read began; what it says of others may be older than the answer
   *     to a command
   */
  private void read(Map<GroupState, Long> marks, List<GroupInfo> infos) {
    Map<String, GroupInfo> there = new HashMap<>();
    infos.forEach(info -> there.put(info.name(), info));
    there.keySet().stream().filter(name -> state.get(name) == null).forEach(state::make);
    for (GroupState group : state.groups()) {
      long mark = marks.getOrDefault(group, 0L);
      if (!group.metaBusy() && group.recordMark() == mark) {
        group.show(there.get(group.name()));
        group.recordShown(mark);
      }
    }
  }

  /** Marks a group with members as seen; begins to forget what was absent for long. */
  void tend(GroupState group) {
    if (group.info() == null || group.forgetting()) {
      forgetting.tendWithoutRecord(group);
      return;
    }
    if (group.metaBusy()) {
      return;
    }
    forgetting.tendTopics(group);
    if (group.metaBusy()) {
      return;
    }
    if (!time.known()) {
      return;
    }
    seenBeforeTime.clear();
    group.topics().tend();
    if (!group.members().live().isEmpty()) {
      Set<String> topics = new HashSet<>();
      group.members().live().forEach(member -> topics.addAll(member.topics()));
      List<GroupPattern> patterns = patternsSeenLongAgo(group);
      if (isSeenLongAgo(group.info(), topics) || !patterns.isEmpty()) {
        write(
            group,
            new MetaCommand.SeeGroup(group.name(), seenLongAgo(group.info(), topics), patterns));
        return;
      }
    } else if (group.members().isEmpty() && absent(group.info().seenMillis())) {
      forgetting.begin(group, null);
      return;
    }
    for (Map.Entry<String, Long> each : group.info().subscriptions().entrySet()) {
      String topic = each.getKey();
      if (absent(each.getValue()) && !group.isRead(topic) && group.deletion(topic) == null) {
        forgetting.begin(group, topic);
        return;
      }
    }
    group.info().patterns().keySet().stream()
        .filter(pattern -> isAbsent(group, pattern))
        .findFirst()
        .ifPresent(pattern -> write(group, new MetaCommand.ForgetPattern(group.name(), pattern)));
  }

  /** Whether no member that may consume what the pattern says has subscribed to it for long. */
  private boolean isAbsent(GroupState group, GroupPattern pattern) {
    return absent(group.info().patterns().get(pattern))
        && group.members().unheard().isEmpty()
        && group.members().live().stream()
            .noneMatch(member -> group.topics().patterns(member.beat()).contains(pattern));
  }

  /** The patterns of live members that are to be marked as seen next. */
  private List<GroupPattern> patternsSeenLongAgo(GroupState group) {
    return group.members().live().stream()
        .flatMap(member -> group.topics().patterns(member.beat()).stream())
        .distinct()
        .filter(group.info().patterns()::containsKey)
        .filter(pattern -> group.info().patterns().get(pattern) <= freshMillis())
        .toList();
  }

  /**
   * Whether the group must be marked as seen before a member joins: otherwise, if the member soon
   * ended, this dispatcher or the next one might take the group for absent. Before the time is
   * known, that is done in any case.
   */
  boolean mustBeSeen(GroupState group, Set<String> topics) {
    return group.members().live().isEmpty()
        && (time.known() ? isSeenLongAgo(group.info(), topics) : !seenBeforeTime.contains(group));
  }

  private boolean absent(long seenMillis) {
    return time.millis() - seenMillis >= state.settings.groupForgetMillis();
  }

  private boolean isSeenLongAgo(GroupInfo info, Set<String> topics) {
    return info.seenMillis() <= freshMillis() || !seenLongAgo(info, topics).isEmpty();
  }

  /** Those of some topics of the group that are to be marked as seen next. */
  private List<String> seenLongAgo(GroupInfo info, Set<String> topics) {
    return info.subscriptions().entrySet().stream()
        .filter(each -> !time.known() || each.getValue() <= freshMillis())
        .map(Map.Entry::getKey)
        .filter(topics::contains)
        .limit(GroupTopics.AT_ONCE)
        .toList();
  }

  private long freshMillis() {
    return time.millis() - state.settings.groupSeenMillis();
  }
}
