package dev.evenkeel.dispatcher.core;

import dev.evenkeel.dispatcher.core.Deletion.Step;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.TopicInfo;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * Forgets groups, and topics that a group no longer reads, in three steps:
 *
 * <pre>
 * RAISE    every data group: leases made from now on have epochs above a number
 * RECORD   the meta log drops the record, also if there seems to be none
 * DROP     every data group drops the leases up to that number
 * </pre>
 *
 * A data group that knows a higher number answers it, and the steps begin again with that. So do
 * those of which an answer is missing, and whatever leases without a record show the next
 * dispatcher.
 *
 * <p>A DROP cannot hit what is made anew, however late it comes: the number was fixed, and all new
 * leases were above it, before the meta log had no record; and a dispatcher that was replaced gets
 * no RECORD. Until all is dropped nobody joins the group, or subscribes to the topic: none of it
 * comes back. See ADR 19.
 */
final class Forgetting {
  private final DispatcherState state;
  private final ShardLeases shardLeases;

  /** Writes a command about a group. */
  private final BiConsumer<GroupState, MetaCommand> meta;

  Forgetting(
      DispatcherState state, ShardLeases shardLeases, BiConsumer<GroupState, MetaCommand> meta) {
    this.state = state;
    this.shardLeases = shardLeases;
    this.meta = meta;
  }

  // ---- Begins

  /**
   * Begins to forget a group, or one of its topics if {@code topic} is not null, or continues that.
   * No command about the group may be on its way.
   */
  Deletion begin(GroupState group, String topic) {
    Deletion deletion = group.beginDeletion(topic);
    for (Lease lease : leases(group, topic)) {
      deletion.epochMax = Math.max(deletion.epochMax, lease.epoch());
    }
    // Other commands about the group wait meanwhile.
    group.metaBusy(true);
    DataCommand.ForgetLeases raise =
        DataCommand.ForgetLeases.raise(group.name(), deletion.epochMax);
    ask(group, deletion, Step.RAISE, raise);
    return deletion;
  }

  /** Whether the deletion may begin: a topic goes with its group if that is being forgotten. */
  private static boolean mayBegin(GroupState group, String topic) {
    return !group.metaBusy() && (topic == null || !group.forgetting());
  }

  private void ask(
      GroupState group, Deletion deletion, Step step, DataCommand.ForgetLeases command) {
    deletion.step = step;
    deletion.unanswered++;
    state.out.ask(
        id -> new DispatcherAction.ForgetLeases(id, command),
        (reply, nowMillis) -> answered(group, deletion, reply, nowMillis));
  }

  /**
   * A member joins a group, or subscribes to other topics. Leftovers of what was forgotten go
   * before it is created again.
   *
   * @param reading what the member subscribes to
   * @return whether the member has to wait for that
   */
  boolean goesFirst(GroupState group, GroupTopics.Reading reading) {
    if (group.recordUnsure()) {
      return group.forgetting();
    }
    if (group.info() == null) {
      boolean left = !group.shards().isEmpty();
      if (left && !group.metaBusy() && !group.forgetting()) {
        begin(group, null);
      }
      return group.forgetting();
    }
    boolean waits = group.forgetting();
    for (Deletion deletion : group.deletions()) {
      waits |= deletion.topic != null && reading.wanted().contains(deletion.topic);
    }
    for (String topic : leased(group, reading.missing())) {
      waits = true;
      if (group.deletion(topic) == null && mayBegin(group, topic)) {
        begin(group, topic);
      }
    }
    return waits;
  }

  /** Those of some topics on which the group has leases. */
  private List<String> leased(GroupState group, List<String> topics) {
    if (topics.isEmpty()) {
      return List.of();
    }
    Set<Integer> leased = new HashSet<>();
    group.shards().leases().forEach(lease -> leased.add(lease.shard().topicId()));
    return topics.stream()
        .filter(topic -> state.topics().byName(topic) != null)
        .filter(topic -> leased.contains(state.topics().byName(topic).id()))
        .toList();
  }

  /** Continues with a group that has no record and of which something is left. */
  void tendWithoutRecord(GroupState group) {
    boolean left =
        !group.deletions().isEmpty()
            || group.members().isEmpty() && !group.shards().isEmpty() && !group.recordUnsure();
    if (!group.metaBusy() && !asks(group, null) && (group.forgetting() || left)) {
      begin(group, null);
    }
  }

  /** Continues with topics that the group does not read, or not by leases, and has leases on. */
  void tendTopics(GroupState group) {
    if (group.recordUnsure()) {
      return;
    }
    for (String topic : left(group)) {
      if (!group.metaBusy() && !asks(group, topic)) {
        begin(group, topic);
      }
    }
  }

  private List<String> left(GroupState group) {
    List<String> left = new ArrayList<>();
    group.deletions().forEach(each -> left.add(each.topic));
    // The log may have given it leases while it came to be in that mode.
    boolean needsNone = group.info().policy().isBroadcast();
    for (Lease lease : group.shards().leases()) {
      String topic = state.topics().name(lease.shard().topicId());
      if (topic != null && (needsNone || !group.info().reads(topic) && !group.isRead(topic))) {
        left.add(topic);
      }
    }
    return left;
  }

  private boolean asks(GroupState group, String topic) {
    Deletion deletion = group.deletion(topic);
    return deletion != null && deletion.unanswered > 0;
  }

  // ---- Answers of the meta log

  /** The record is gone, or there was none. */
  void recordGone(GroupState group) {
    group.show(null);
    drop(group, group.deletion(null), DataCommand.ForgetLeases.ALL_TOPICS);
  }

  /** The record does not name the topic any more. */
  void subscriptionGone(GroupState group, String topic, long nowMillis) {
    TopicInfo info = state.topics().byName(topic);
    if (info == null) {
      // Its leases went with it.
      done(group, group.deletion(topic), nowMillis);
    } else {
      drop(group, group.deletion(topic), info.id());
    }
  }

  private void drop(GroupState group, Deletion deletion, int topicId) {
    deletion.recordGone = true;
    ask(
        group,
        deletion,
        Step.DROP,
        new DataCommand.ForgetLeases(group.name(), deletion.epochMax, topicId));
  }

  /** The record stays, unless it was gone before; topic null: that of the group. */
  void refused(GroupState group, String topic, Reply.Refused refused) {
    Deletion deletion = group.deletion(topic);
    if (!deletion.recordGone) {
      deletion.refused = refused;
      over(group, deletion);
    }
  }

  private static void over(GroupState group, Deletion deletion) {
    deletion.over = true;
    group.endDeletion(deletion);
  }

  // ---- Answers of the data groups

  /** All data groups have answered; see {@link DispatcherAction.ForgetLeases}. */
  private void answered(GroupState group, Deletion deletion, Reply reply, long nowMillis) {
    deletion.unanswered--;
    if (deletion.over) {
      return;
    }
    if (deletion.step == Step.RAISE) {
      group.metaBusy(false);
    }
    if (!(reply instanceof Reply.OfNumber of)) {
      failed(group, deletion, (Reply.Refused) reply);
    } else if (of.number() > deletion.epochMax) {
      deletion.epochMax = of.number();
      if (mayBegin(group, deletion.topic)) {
        begin(group, deletion.topic);
      }
    } else if (deletion.step == Step.RAISE) {
      deletion.step = Step.RECORD;
      meta.accept(
          group,
          deletion.topic == null
              ? new MetaCommand.ForgetGroup(group.name())
              : new MetaCommand.ForgetTopic(group.name(), deletion.topic));
    } else {
      done(group, deletion, nowMillis);
      state.waiting.recorded(group.name());
    }
  }

  /** A step failed. The rest is tried again when the group is tended. */
  private void failed(GroupState group, Deletion deletion, Reply.Refused refused) {
    refused(group, deletion.topic, refused);
    for (WaitingHeartbeats.Arrival each : state.waiting.ofGroup(group.name())) {
      state.out.refuse(
          each.request(),
          Refusal.UNAVAILABLE,
          (deletion.topic == null
                  ? "group '" + group.name() + "'"
                  : "topic '" + deletion.topic + "' of a group")
              + " is being forgotten, which waits ("
              + refused.detail()
              + "): try again");
    }
  }

  private void done(GroupState group, Deletion deletion, long nowMillis) {
    over(group, deletion);
    if (deletion.topic != null) {
      leases(group, deletion.topic)
          .forEach(lease -> shardLeases.forgotten(group, lease.shard(), nowMillis));
      group.plan().retarget();
      return;
    }
    // From now on, answers about its topics have no effect.
    group.deletions().forEach(each -> over(group, each));
    for (Lease lease : group.shards().leases()) {
      String name = state.topics().name(lease.shard().topicId());
      if (name != null) {
        state.out.add(new DispatcherAction.Ownership(group.name(), name, lease.shard(), null));
      }
    }
    state.remove(group.name());
  }

  /** Leases on a topic that is there, or all if null. */
  List<Lease> leases(GroupState group, String topic) {
    if (topic == null) {
      return group.shards().leases();
    }
    TopicInfo info = state.topics().byName(topic);
    return group.shards().leases().stream()
        .filter(lease -> info != null && lease.shard().topicId() == info.id())
        .toList();
  }
}
