package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.TopicInfo;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

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
  private enum Step {
    RAISE,
    RECORD,
    DROP
  }

  /** A group, or a topic of it, that is being forgotten: from the first step until it is over. */
  static final class Deletion {
    private final GroupState state;

    /** Null: the whole group. */
    private final String topic;

    /** The highest epoch that is known of what is to go, or that a data group has answered. */
    private long epochMax = 1;

    private Step step;
    private boolean recordGone;
    private boolean over;
    private Reply.Refused refused;

    private Deletion(GroupState state, String topic) {
      this.state = state;
      this.topic = topic;
    }

    /** All is gone, or it was refused. */
    boolean over() {
      return over;
    }

    /** Why the record stayed, if it is over for that; else null. */
    Reply.Refused refused() {
      return refused;
    }

    private boolean of(GroupState state, String topic) {
      return this.state == state && Objects.equals(this.topic, topic);
    }
  }

  /** Writes a command about a group. */
  interface MetaWriter {
    void write(GroupState state, MetaCommand command);
  }

  private final Groups groups;
  private final TopicView view;
  private final WaitingHeartbeats held;
  private final LeaseNews news;
  private final Outbox out;
  private final MetaWriter meta;
  private final List<Deletion> deletions = new ArrayList<>();

  /** Requests to the data groups that are not answered. */
  private final Map<Long, Deletion> asked = new HashMap<>();

  Forgetting(
      Groups groups,
      TopicView view,
      WaitingHeartbeats held,
      LeaseNews news,
      Outbox out,
      MetaWriter meta) {
    this.groups = groups;
    this.view = view;
    this.held = held;
    this.news = news;
    this.out = out;
    this.meta = meta;
  }

  // ---- Begins

  /**
   * Begins to forget a group, or a topic that it reads if not null, or goes on with it. No command
   * about the group may be on its way.
   */
  Deletion begin(GroupState state, String topic) {
    Deletion deletion = find(state, topic);
    if (deletion == null) {
      deletion = new Deletion(state, topic);
      deletions.add(deletion);
    }
    if (topic == null) {
      state.forgetting = true;
    } else {
      state.forgettingTopics.add(topic);
    }
    for (Lease lease : leases(state, topic)) {
      deletion.epochMax = Math.max(deletion.epochMax, lease.epoch());
    }
    // Other commands about the group wait meanwhile.
    state.metaInFlight = true;
    raise(deletion);
    return deletion;
  }

  /** A topic goes with its group, once that goes. */
  private static boolean mayBegin(GroupState state, String topic) {
    return !state.metaInFlight && (topic == null || !state.forgetting);
  }

  private void raise(Deletion deletion) {
    ask(
        deletion,
        Step.RAISE,
        DataCommand.ForgetLeases.raise(deletion.state.name(), deletion.epochMax));
  }

  private void ask(Deletion deletion, Step step, DataCommand.ForgetLeases command) {
    long id = out.nextId();
    deletion.step = step;
    asked.put(id, deletion);
    out.add(new DispatcherAction.ForgetLeases(id, command));
  }

  /** What is being forgotten of the group, all of it or this topic; null: it is not. */
  Deletion find(GroupState state, String topic) {
    return deletions.stream().filter(each -> each.of(state, topic)).findFirst().orElse(null);
  }

  /**
   * A member comes to a group, or to other topics. What is left of what was forgotten goes before
   * it is made anew.
   *
   * @return whether the member has to wait for that
   */
  boolean goesFirst(GroupState state, Collection<String> topics) {
    if (state.info == null) {
      boolean left = !state.book().all().isEmpty();
      if (left && !state.metaInFlight && !state.forgetting) {
        begin(state, null);
      }
      return state.forgetting;
    }
    boolean waits = state.forgetting;
    for (String topic : topics) {
      if (state.forgettingTopics.contains(topic)) {
        waits = true;
      } else if (!state.info.reads(topic) && !leases(state, topic).isEmpty()) {
        waits = true;
        if (mayBegin(state, topic)) {
          begin(state, topic);
        }
      }
    }
    return waits;
  }

  /** Goes on with a group without a record of which something is left. */
  void tendWithoutRecord(GroupState state) {
    boolean left =
        !state.forgettingTopics.isEmpty()
            || state.members().isEmpty() && !state.book().all().isEmpty();
    if (!state.metaInFlight && !asks(state, null) && (state.forgetting || left)) {
      begin(state, null);
    }
  }

  /** Goes on with one topic that the group does not read and of which something is left. */
  void tendTopics(GroupState state) {
    for (String topic : left(state)) {
      if (!state.metaInFlight && !asks(state, topic)) {
        begin(state, topic);
      }
    }
  }

  private List<String> left(GroupState state) {
    List<String> left = new ArrayList<>(state.forgettingTopics);
    for (Lease lease : state.book().all()) {
      String topic = view.topics().name(lease.shard().topicId());
      if (topic != null && !state.info.reads(topic) && !state.isRead(topic)) {
        left.add(topic);
      }
    }
    return left;
  }

  private boolean asks(GroupState state, String topic) {
    return asked.values().stream().anyMatch(each -> each.of(state, topic));
  }

  // ---- Answers of the meta log

  /** The record is gone, or there was none. */
  void recordGone(GroupState state) {
    state.info = null;
    drop(find(state, null), DataCommand.ForgetLeases.ALL_TOPICS);
  }

  /** The record does not name the topic any more. */
  void subscriptionGone(GroupState state, String topic, long nowMillis) {
    TopicInfo info = view.topics().byName(topic);
    if (info == null) {
      // Its leases went with it.
      done(find(state, topic), nowMillis);
    } else {
      drop(find(state, topic), info.id());
    }
  }

  private void drop(Deletion deletion, int topicId) {
    deletion.recordGone = true;
    ask(
        deletion,
        Step.DROP,
        new DataCommand.ForgetLeases(deletion.state.name(), deletion.epochMax, topicId));
  }

  /** The record stays, unless it was gone before; topic null: that of the group. */
  void refused(GroupState state, String topic, Reply.Refused refused) {
    Deletion deletion = find(state, topic);
    if (!deletion.recordGone) {
      deletion.refused = refused;
      over(deletion);
    }
  }

  private void over(Deletion deletion) {
    deletion.over = true;
    deletions.remove(deletion);
    if (deletion.topic == null) {
      deletion.state.forgetting = false;
    } else {
      deletion.state.forgettingTopics.remove(deletion.topic);
    }
  }

  // ---- Answers of the data groups

  /**
   * The data groups have answered.
   *
   * @param reply the highest number of all, or what one of them refused it with
   * @return heartbeats that waited for it, to be looked at again
   */
  List<WaitingHeartbeats.Held> answered(long id, Reply reply, long nowMillis) {
    Deletion deletion = asked.remove(id);
    if (deletion == null || deletion.over) {
      return List.of();
    }
    GroupState state = deletion.state;
    if (deletion.step == Step.RAISE) {
      state.metaInFlight = false;
    }
    if (!(reply instanceof Reply.OfNumber of)) {
      failed(deletion, (Reply.Refused) reply);
    } else if (of.number() > deletion.epochMax) {
      deletion.epochMax = of.number();
      if (mayBegin(state, deletion.topic)) {
        begin(state, deletion.topic);
      }
    } else if (deletion.step == Step.RAISE) {
      deletion.step = Step.RECORD;
      meta.write(
          state,
          deletion.topic == null
              ? new MetaCommand.ForgetGroup(state.name())
              : new MetaCommand.ForgetTopic(state.name(), deletion.topic));
    } else {
      done(deletion, nowMillis);
      return held.ofGroup(state.name());
    }
    return List.of();
  }

  /** What is gone so far stays so, and the rest is tried again when the group is tended. */
  private void failed(Deletion deletion, Reply.Refused refused) {
    refused(deletion.state, deletion.topic, refused);
    for (WaitingHeartbeats.Held each : held.ofGroup(deletion.state.name())) {
      out.refuse(
          each.request(),
          Refusal.UNAVAILABLE,
          (deletion.topic == null
                  ? "group '" + deletion.state.name() + "'"
                  : "topic '" + deletion.topic + "' of a group")
              + " is being forgotten, which waits ("
              + refused.detail()
              + "): try again");
    }
  }

  private void done(Deletion deletion, long nowMillis) {
    GroupState state = deletion.state;
    over(deletion);
    if (deletion.topic != null) {
      Group group = groups.get(state.name());
      for (Lease lease : leases(state, deletion.topic)) {
        state.book().forget(lease.shard());
        news.changed(group, lease.shard(), lease, nowMillis);
      }
      group.plan().retarget();
      return;
    }
    // Answers about topics of it come to nothing from now on.
    deletions.stream().filter(each -> each.state == state).toList().forEach(this::over);
    for (Lease lease : state.book().all()) {
      String name = view.topics().name(lease.shard().topicId());
      if (name != null) {
        out.add(new DispatcherAction.Ownership(state.name(), name, lease.shard(), null));
      }
    }
    groups.remove(state.name());
  }

  /** Leases on a topic that is there, or all if null. */
  List<Lease> leases(GroupState state, String topic) {
    if (topic == null) {
      return List.copyOf(state.book().all());
    }
    TopicInfo info = view.topics().byName(topic);
    return state.book().all().stream()
        .filter(lease -> info != null && lease.shard().topicId() == info.id())
        .toList();
  }
}
