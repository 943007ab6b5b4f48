package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

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

  private int writes;

  /** Grows with each write and each answer to one. */
  private long sequence;

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
      List<String> topics = List.copyOf(new TreeSet<>(beat.topics()));
      write(
          group,
          new MetaCommand.DeclareGroup(
              beat.group(), beat.policy(), topics, beat.start(), force, beat.wishes().assignor()));
    }
  }

  private void write(GroupState group, MetaCommand command) {
    group.metaBusy(true);
    sequence++;
    writes++;
    state.out.writeMeta(command, (reply, nowMillis) -> written(group, command, reply, nowMillis));
  }

  private void written(GroupState group, MetaCommand command, Reply reply, long nowMillis) {
    writes--;
    sequence++;
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
        group.show(of.group());
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
    read();
    boolean mismatch = refused.refusal() == Refusal.GROUP_MISMATCH;
    for (WaitingHeartbeats.Arrival each : state.waiting.ofGroup(group.name())) {
      state.out.refuse(
          each.request(),
          mismatch ? refused.refusal() : Refusal.UNAVAILABLE,
          mismatch
              ? refused.detail()
              : "the group cannot be recorded now (" + refused.refusal() + "): try again");
    }
  }

  void read() {
    long begun = sequence;
    state.out.ask(DispatcherAction.ReadGroups::new, (infos, nowMillis) -> read(begun, infos));
  }

  /**
   * @param begun the {@link #sequence} when the read began
   * @param infos null if they cannot be read now
   */
  private void read(long begun, List<GroupInfo> infos) {
    // What was read while a write was on its way may be older than its answer.
    if (infos == null || begun != sequence || writes > 0) {
      return;
    }
    Set<String> there = new HashSet<>();
    for (GroupInfo info : infos) {
      there.add(info.name());
      state.make(info.name()).show(info);
    }
    for (GroupState group : state.groups()) {
      if (!there.contains(group.name())) {
        group.show(null);
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
    if (!group.members().live().isEmpty()) {
      Set<String> topics = new TreeSet<>();
      group.members().live().forEach(member -> topics.addAll(member.beat().topics()));
      if (seenLongAgo(group.info(), topics)) {
        write(group, new MetaCommand.SeeGroup(group.name(), List.copyOf(topics)));
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
  }

  /**
   * Whether the group must be marked as seen before a member joins: otherwise, if the member soon
   * ended, this dispatcher or the next one might take the group for absent. Before the time is
   * known, that is done in any case.
   */
  boolean mustBeSeen(GroupState group, Collection<String> topics) {
    return group.members().live().isEmpty()
        && (time.known() ? seenLongAgo(group.info(), topics) : !seenBeforeTime.contains(group));
  }

  private boolean absent(long seenMillis) {
    return time.millis() - seenMillis >= state.settings.groupForgetMillis();
  }

  private boolean seenLongAgo(GroupInfo info, Collection<String> topics) {
    long fresh = time.millis() - state.settings.groupSeenMillis();
    return info.seenMillis() <= fresh
        || info.subscriptions().entrySet().stream()
            .anyMatch(each -> topics.contains(each.getKey()) && each.getValue() <= fresh);
  }
}
