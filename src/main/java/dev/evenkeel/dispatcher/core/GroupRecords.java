package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The groups' records in the meta log: declares, marks as seen and reads them, and has those
 * forgotten that were absent for long. At most one command about a group is on its way.
 */
final class GroupRecords {
  private record Ref(GroupState state, MetaCommand command) {}

  private final DispatcherSettings settings;
  private final Groups groups;
  private final WaitingHeartbeats held;
  private final MoveLog moves;
  private final ActiveTime time;
  private final Outbox out;
  private final Forgetting forgetting;
  private final Map<Long, Ref> writes = new HashMap<>();

  /** Reads on their way, each with the {@link #sequence} of its beginning. */
  private final Map<Long, Long> reads = new HashMap<>();

  /** Grows with each write and each answer to one. */
  private long sequence;

  GroupRecords(
      DispatcherSettings settings,
      Groups groups,
      TopicView view,
      WaitingHeartbeats held,
      MoveLog moves,
      ActiveTime time,
      LeaseNews news,
      Outbox out) {
    this.settings = settings;
    this.groups = groups;
    this.held = held;
    this.moves = moves;
    this.time = time;
    this.out = out;
    forgetting = new Forgetting(groups, view, held, news, out, this::write);
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
    GroupState state = groups.make(beat.group()).state();
    if (!state.metaInFlight) {
      write(
          state,
          new MetaCommand.DeclareGroup(
              beat.group(),
              beat.policy(),
              List.copyOf(new TreeSet<>(beat.topics())),
              beat.start(),
              force,
              beat.wishes().assignor()));
    }
  }

  private void write(GroupState state, MetaCommand command) {
    long id = out.nextId();
    state.metaInFlight = true;
    sequence++;
    writes.put(id, new Ref(state, command));
    out.add(new DispatcherAction.WriteMeta(id, command));
  }

  /**
   * A command was answered.
   *
   * @return heartbeats that waited for it, to be looked at again
   */
  List<WaitingHeartbeats.Held> written(long id, Reply reply, long nowMillis) {
    Ref ref = writes.remove(id);
    if (ref == null) {
      return List.of();
    }
    sequence++;
    GroupState state = ref.state();
    state.metaInFlight = false;
    Group group = groups.get(state.name());
    if (group == null || group.state() != state) {
      return List.of();
    }
    if (reply instanceof Reply.Refused refused) {
      refused(state, ref, refused);
      return List.of();
    }
    if (ref.command() instanceof MetaCommand.ForgetGroup) {
      recordForgotten(state);
      return List.of();
    } else if (reply instanceof Reply.OfGroup of) {
      show(group, of.group());
    }
    if (ref.command() instanceof MetaCommand.ForgetTopic c) {
      forgetting.subscriptionGone(state, c.topic(), nowMillis);
    }
    return held.ofGroup(ref.state().name());
  }

  private void recordForgotten(GroupState state) {
    groups.leases().forget(state.name());
    moves.forget(state.name());
    forgetting.recordGone(state);
  }

  private void refused(GroupState state, Ref ref, Reply.Refused refused) {
    if (ref.command() instanceof MetaCommand.ForgetGroup) {
      if (refused.refusal() == Refusal.UNKNOWN_GROUP) {
        recordForgotten(state);
        return;
      }
      forgetting.refused(state, null, refused);
    } else if (ref.command() instanceof MetaCommand.ForgetTopic c) {
      forgetting.refused(state, c.topic(), refused);
    }
    if (refused.refusal() == Refusal.UNKNOWN_GROUP) {
      state.info = null;
    }
    read();
    boolean mismatch = refused.refusal() == Refusal.GROUP_MISMATCH;
    for (WaitingHeartbeats.Held each : held.ofGroup(ref.state().name())) {
      out.refuse(
          each.request(),
          mismatch ? refused.refusal() : Refusal.UNAVAILABLE,
          mismatch
              ? refused.detail()
              : "the group cannot be recorded now (" + refused.refusal() + "): try again");
    }
  }

  void read() {
    long id = out.nextId();
    reads.put(id, sequence);
    out.add(new DispatcherAction.ReadGroups(id));
  }

  /**
   * @param infos null if they cannot be read now
   */
  void read(long id, List<GroupInfo> infos) {
    Long begun = reads.remove(id);
    // What was read while a write was on its way may be older than its answer.
    if (begun == null || infos == null || begun != sequence || !writes.isEmpty()) {
      return;
    }
    Set<String> there = new HashSet<>();
    for (GroupInfo info : infos) {
      there.add(info.name());
      show(groups.make(info.name()), info);
    }
    for (Group group : groups.all()) {
      if (!there.contains(group.state().name())) {
        group.state().info = null;
      }
    }
  }

  private static void show(Group group, GroupInfo info) {
    GroupInfo before = group.state().info;
    group.state().info = info;
    if (before != null && info != null && !info.policy().mode().equals(before.policy().mode())) {
      group.plan().retarget();
    }
    if (before != null && info != null && !info.assignor().equals(before.assignor())) {
      group.state().cause = Cause.ASSIGNOR;
      group.plan().retarget();
    }
  }

  /** Marks a group with members as seen; begins to forget what was absent for long. */
  void tend(GroupState state, long nowMillis) {
    if (state.info == null || state.forgetting) {
      forgetting.tendWithoutRecord(state);
      return;
    }
    if (state.metaInFlight) {
      return;
    }
    forgetting.tendTopics(state);
    if (state.metaInFlight) {
      return;
    }
    if (!time.known()) {
      seeByClock(state, nowMillis);
      return;
    }
    if (!state.members().live().isEmpty()) {
      Set<String> topics = new TreeSet<>();
      state.members().live().forEach(member -> topics.addAll(member.beat().topics()));
      if (seenLongAgo(state.info, topics)) {
        write(state, new MetaCommand.SeeGroup(state.name(), List.copyOf(topics)));
        return;
      }
    } else if (state.members().isEmpty() && absent(state.info.seenMillis())) {
      forgetting.begin(state, null);
      return;
    }
    for (Map.Entry<String, Long> each : state.info.subscriptions().entrySet()) {
      String topic = each.getKey();
      if (absent(each.getValue())
          && !state.isRead(topic)
          && !state.forgettingTopics.contains(topic)) {
        forgetting.begin(state, topic);
        return;
      }
    }
  }

  /**
   * At the first feature level no time is active. If the cluster goes back to the first build, that
   * forgets the groups that were not seen by the clock.
   */
  private void seeByClock(GroupState state, long nowMillis) {
    long seen = state.info.clockMillis();
    if (seen != GroupInfo.NO_CLOCK
        && !state.members().live().isEmpty()
        && nowMillis - seen >= settings.groupSeenMillis()) {
      write(state, new MetaCommand.SeeGroup(state.name(), List.of()));
    }
  }

  /**
   * Whether the record is to say that the group lives before a member joins: if this dispatcher
   * ended with the record as it is, the next might take the group for absent.
   */
  boolean mustBeSeen(GroupState state, Collection<String> topics) {
    return time.known() && state.members().live().isEmpty() && seenLongAgo(state.info, topics);
  }

  private boolean absent(long seenMillis) {
    return time.millis() - seenMillis >= settings.groupForgetMillis();
  }

  private boolean seenLongAgo(GroupInfo info, Collection<String> topics) {
    long fresh = time.millis() - settings.groupSeenMillis();
    return info.seenMillis() <= fresh
        || info.subscriptions().entrySet().stream()
            .anyMatch(each -> topics.contains(each.getKey()) && each.getValue() <= fresh);
  }
}
