package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.model.DataCommand;
import dev.evenkeel.model.GroupInfo;
import dev.evenkeel.model.Lease;
import dev.evenkeel.model.MetaCommand;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.Reply;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The groups' records in the meta log: declares, marks as seen, reads and forgets them. At most one
 * command about a group is on its way.
 */
final class GroupRecords {
  private record Ref(String group, MetaCommand command) {}

  private record Forget(String group, long epochMax) {}

  private final DispatcherSettings settings;
  private final Groups groups;
  private final TopicView view;
  private final HeldBeats held;
  private final MoveLog moves;
  private final ActiveTime time;
  private final Outbox out;
  private final Map<Long, Ref> writes = new HashMap<>();
  private final Map<Long, Forget> forgets = new HashMap<>();

  /** Reads on their way, each with the {@link #sequence} of its beginning. */
  private final Map<Long, Long> reads = new HashMap<>();

  /** Grows with each write and each answer to one. */
  private long sequence;

  GroupRecords(
      DispatcherSettings settings,
      Groups groups,
      TopicView view,
      HeldBeats held,
      MoveLog moves,
      ActiveTime time,
      Outbox out) {
    this.settings = settings;
    this.groups = groups;
    this.view = view;
    this.held = held;
    this.moves = moves;
    this.time = time;
    this.out = out;
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
    writes.put(id, new Ref(state.name(), command));
    out.add(new Action.WriteMeta(id, command));
  }

  /**
   * A command was answered.
   *
   * @return heartbeats that waited for it, to be looked at again
   */
  List<HeldBeats.Held> written(long id, Reply reply) {
    Ref ref = writes.remove(id);
    if (ref == null) {
      return List.of();
    }
    sequence++;
    GroupState state = groups.get(ref.group()).state();
    state.metaInFlight = false;
    if (reply instanceof Reply.Refused refused) {
      refused(state, ref, refused);
      return List.of();
    }
    if (ref.command() instanceof MetaCommand.ForgetGroup) {
      recordForgotten(state);
      return List.of();
    } else if (reply instanceof Reply.OfGroup of) {
      show(groups.get(ref.group()), of.group());
    }
    return held.ofGroup(ref.group());
  }

  private void recordForgotten(GroupState state) {
    state.info = null;
    groups.leases().forget(state.name());
    moves.forget(state.name());
    forgetLeases(state, 0);
  }

  private void refused(GroupState state, Ref ref, Reply.Refused refused) {
    if (ref.command() instanceof MetaCommand.ForgetGroup) {
      if (refused.refusal() == Refusal.UNKNOWN_GROUP) {
        recordForgotten(state);
        return;
      }
      state.forgetting = false;
    }
    if (refused.refusal() == Refusal.UNKNOWN_GROUP) {
      state.info = null;
    }
    read();
    boolean mismatch = refused.refusal() == Refusal.GROUP_MISMATCH;
    for (HeldBeats.Held each : held.ofGroup(ref.group())) {
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
    out.add(new Action.ReadGroups(id));
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

  /** Marks a group with members as seen; begins to forget one that was absent for long. */
  void tend(GroupState state) {
    if (state.info == null) {
      tendWithoutRecord(state);
      return;
    }
    if (state.metaInFlight || state.forgetting || !time.known()) {
      return;
    }
    if (!state.members().live().isEmpty()) {
      Set<String> topics = new TreeSet<>();
      state.members().live().forEach(member -> topics.addAll(member.beat().topics()));
      if (seenLongAgo(state.info, topics)) {
        write(state, new MetaCommand.SeeGroup(state.name(), List.copyOf(topics)));
      }
    } else if (state.members().isEmpty()
        && time.millis() - state.info.seenMillis() >= settings.groupForgetMillis()) {
      forget(state);
    }
  }

  /**
   * Forgets a group. The record goes first, also if there seems to be none: only the leader of the
   * meta log learns that it is gone, so no dispatcher of old touches the leases. If this is cut
   * short, leases without a record tell the next dispatcher.
   */
  private void forget(GroupState state) {
    state.forgetting = true;
    write(state, new MetaCommand.ForgetGroup(state.name()));
  }

  /**
   * A member comes to a group. What is left of one that was forgotten goes before it is made anew.
   *
   * @return whether the member has to wait for that
   */
  boolean forgetsFirst(GroupState state) {
    boolean left = state.info == null && !state.book().all().isEmpty();
    if (left && !state.metaInFlight && !state.forgetting) {
      forget(state);
    }
    return state.forgetting;
  }

  private void tendWithoutRecord(GroupState state) {
    boolean left = state.members().isEmpty() && !state.book().all().isEmpty();
    boolean asked = forgets.values().stream().anyMatch(f -> f.group().equals(state.name()));
    if (!state.metaInFlight && !asked && (state.forgetting || left)) {
      forget(state);
    }
  }

  private boolean seenLongAgo(GroupInfo info, Set<String> topics) {
    long fresh = time.millis() - settings.groupSeenMillis();
    return info.seenMillis() <= fresh
        || info.subscriptions().entrySet().stream()
            .anyMatch(each -> topics.contains(each.getKey()) && each.getValue() <= fresh);
  }

  /**
   * Drops what the data groups have of a group without a record. Until that is done the group is
   * not made anew, so that none of it comes back.
   *
   * @param floor leases may have epochs up to here, known or not
   */
  private void forgetLeases(GroupState state, long floor) {
    long epochMax = Math.max(1, floor);
    for (Lease lease : state.book().all()) {
      epochMax = Math.max(epochMax, lease.epoch());
    }
    state.forgetting = true;
    long id = out.nextId();
    forgets.put(id, new Forget(state.name(), epochMax));
    out.add(new Action.ForgetLeases(id, new DataCommand.ForgetLeases(state.name(), epochMax)));
  }

  /**
   * A group's leases were dropped.
   *
   * @param floor the highest number that a data log group answered; null unless all have taken it
   * @return heartbeats that waited for it, to be looked at again
   */
  List<HeldBeats.Held> leasesForgotten(long id, Long floor) {
    Forget forget = forgets.remove(id);
    if (forget == null) {
      return List.of();
    }
    String name = forget.group();
    GroupState state = groups.get(name).state();
    if (floor == null) {
      // It is tried again when the group is tended, with what is read of its leases until then.
      for (HeldBeats.Held each : held.ofGroup(name)) {
        out.refuse(
            each.request(),
            Refusal.UNAVAILABLE,
            "group '" + name + "' is being forgotten, and a log group has no leader: try again");
      }
      return List.of();
    }
    if (floor > forget.epochMax()) {
      // A request of an earlier dispatcher with a higher number may still be on its way.
      forgetLeases(state, floor);
      return List.of();
    }
    for (Lease lease : state.book().all()) {
      String topic = view.topics().name(lease.shard().topicId());
      if (topic != null) {
        out.add(new Action.Ownership(name, topic, lease.shard(), null));
      }
    }
    groups.remove(name);
    return held.ofGroup(name);
  }
}
