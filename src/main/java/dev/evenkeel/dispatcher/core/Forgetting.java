package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.model.DataCommand;
import dev.evenkeel.model.Lease;
import dev.evenkeel.model.MetaCommand;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.TopicInfo;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Forgets groups, and topics that a group reads no more. The record in the meta log goes first,
 * also if there seems to be none: only the leader of the meta log learns that it is gone, so no
 * dispatcher of old touches the leases. Then the data groups drop leases up to the highest epoch
 * that is known. If this is cut short, leases without a record tell the next dispatcher. See ADR
 * 19.
 *
 * <p>Until all is dropped nobody joins the group, or subscribes to the topic: none of it comes
 * back.
 */
final class Forgetting {
  /**
   * Leases that are being dropped.
   *
   * @param topic null: of all topics
   */
  private record Dropping(String group, String topic, long epochMax) {}

  /** Writes a command about a group. */
  interface MetaWriter {
    void write(GroupState state, MetaCommand command);
  }

  private final Groups groups;
  private final TopicView view;
  private final HeldBeats held;
  private final LeaseNews news;
  private final Outbox out;
  private final MetaWriter meta;
  private final Map<Long, Dropping> droppings = new HashMap<>();

  Forgetting(
      Groups groups, TopicView view, HeldBeats held, LeaseNews news, Outbox out, MetaWriter meta) {
    this.groups = groups;
    this.view = view;
    this.held = held;
    this.news = news;
    this.out = out;
    this.meta = meta;
  }

  // ---- Begins

  /** Begins to forget a group. No command about it may be on its way. */
  void begin(GroupState state) {
    state.forgetting = true;
    state.forgetRefused = null;
    meta.write(state, new MetaCommand.ForgetGroup(state.name()));
  }

  /** Begins to forget that a group reads a topic. No command about it may be on its way. */
  void begin(GroupState state, String topic) {
    state.forgettingTopics.add(topic);
    state.forgetRefused = null;
    meta.write(state, new MetaCommand.ForgetTopic(state.name(), topic));
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
        begin(state);
      }
      return state.forgetting;
    }
    boolean waits = state.forgetting;
    for (String topic : topics) {
      if (state.forgettingTopics.contains(topic)) {
        waits = true;
      } else if (!state.info.reads(topic) && !leases(state, topic).isEmpty()) {
        waits = true;
        if (!state.metaInFlight) {
          begin(state, topic);
        }
      }
    }
    return waits;
  }

  /** Goes on with a group without a record of which something is left. */
  void tendWithoutRecord(GroupState state) {
    boolean left = state.members().isEmpty() && !state.book().all().isEmpty();
    if (!state.metaInFlight && !dropping(state, null) && (state.forgetting || left)) {
      begin(state);
    }
  }

  /** Goes on with one topic that the group does not read and of which something is left. */
  void tendTopics(GroupState state) {
    for (String topic : left(state)) {
      if (!state.metaInFlight && !dropping(state, topic)) {
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

  private boolean dropping(GroupState state, String topic) {
    return droppings.values().stream()
        .anyMatch(each -> each.group().equals(state.name()) && Objects.equals(each.topic(), topic));
  }

  // ---- Answers of the meta log

  /** The record is gone, or there was none. */
  void recordGone(GroupState state) {
    state.info = null;
    drop(state, null, 0);
  }

  /** The record names the topic no more. */
  void subscriptionGone(GroupState state, String topic, long nowMillis) {
    if (view.topics().byName(topic) == null) {
      // Its leases went with it.
      done(groups.get(state.name()), topic, nowMillis);
    } else {
      drop(state, topic, 0);
    }
  }

  /**
   * Drops what the data groups have of it.
   *
   * @param topic null: of all topics
   * @param floor leases may have epochs up to here, known or not
   */
  private void drop(GroupState state, String topic, long floor) {
    long epochMax = Math.max(1, floor);
    for (Lease lease : leases(state, topic)) {
      epochMax = Math.max(epochMax, lease.epoch());
    }
    if (topic == null) {
      state.forgetting = true;
    }
    int topicId =
        topic == null ? DataCommand.ForgetLeases.ALL_TOPICS : view.topics().byName(topic).id();
    long id = out.nextId();
    droppings.put(id, new Dropping(state.name(), topic, epochMax));
    out.add(
        new Action.ForgetLeases(id, new DataCommand.ForgetLeases(state.name(), epochMax, topicId)));
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

  // ---- Answers of the data groups

  /**
   * Leases were dropped.
   *
   * @param floor the highest number that a data log group answered; null unless all have taken it
   * @return heartbeats that waited for it, to be looked at again
   */
  List<HeldBeats.Held> dropped(long id, Long floor, long nowMillis) {
    Dropping dropping = droppings.remove(id);
    Group group = dropping == null ? null : groups.get(dropping.group());
    if (group == null) {
      return List.of();
    }
    String topic = dropping.topic();
    GroupState state = group.state();
    if (floor == null) {
      // It is tried again when the group is tended, with what is read of its leases until then.
      for (HeldBeats.Held each : held.ofGroup(state.name())) {
        Heartbeat beat = each.beat();
        out.refuse(
            each.request(),
            Refusal.UNAVAILABLE,
            (topic == null ? "group '" + beat.group() + "'" : "topic '" + topic + "' of a group")
                + " is being forgotten, and a log group has no leader: try again");
      }
      return List.of();
    }
    if (floor > dropping.epochMax() && (topic == null || view.topics().byName(topic) != null)) {
      // A request of an earlier dispatcher with a higher number may still be on its way.
      drop(state, topic, floor);
      return List.of();
    }
    done(group, topic, nowMillis);
    return held.ofGroup(state.name());
  }

  private void done(Group group, String topic, long nowMillis) {
    GroupState state = group.state();
    if (topic != null) {
      state.forgettingTopics.remove(topic);
      for (Lease lease : leases(state, topic)) {
        state.book().forget(lease.shard());
        news.changed(group, lease.shard(), lease, nowMillis);
      }
      group.plan().retarget();
      return;
    }
    for (Lease lease : state.book().all()) {
      String name = view.topics().name(lease.shard().topicId());
      if (name != null) {
        out.add(new Action.Ownership(state.name(), name, lease.shard(), null));
      }
    }
    groups.remove(state.name());
  }
}
