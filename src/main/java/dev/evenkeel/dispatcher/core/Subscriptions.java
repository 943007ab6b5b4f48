package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * On which shards a group still needs leases. A group has one on every shard of every topic that it
 * reads, from the moment in which it subscribes: retention keeps what it has not consumed, and
 * "latest" is that moment. A member joins once they are there.
 *
 * <p>Shards that are made while a group reads the topic come with its lease. The dispatcher opens
 * the others: those on the shards that are there when the group subscribes, and in a cluster of
 * versions in which a lease began with its first owner. So what it sees of the topics must be newer
 * than the subscription.
 */
final class Subscriptions {
  private static final Comparator<Shard> NEWEST_FIRST =
      Comparator.comparingInt(Shard::topicId)
          .thenComparing(Comparator.comparingInt(Shard::shard).reversed());

  /** Runs that join wait for leases for this long at most. */
  static final long HOLD_MILLIS_MAX = 5_000;

  private static final long NOBODY = Long.MIN_VALUE;

  private final GroupState group;
  private final DispatcherState state;

  /** Since when runs that join wait for leases, or {@link #NOBODY}. */
  private long heldSinceMillis = NOBODY;

  /**
   * Shards without a lease, and where the group begins there: null if that is not known yet. It
   * does not change later, when some of the leases are there.
   */
  private NavigableMap<Shard, StartAt> missing = new TreeMap<>(NEWEST_FIRST);

  /** Whether to look again what is missing. */
  private boolean old = true;

  /** Topics to which members have subscribed here, as long as leases on them are missing. */
  private final Set<String> fresh = new HashSet<>();

  /** How many reads of the topics had begun when the group's record named another topic. */
  private long recordedAfter = -1;

  Subscriptions(GroupState group, DispatcherState state) {
    this.group = group;
    this.state = state;
  }

  /** The group's record, the topics or the leases are not what they were. */
  void changed() {
    old = true;
  }

  /** The group's record names these topics, and did not before. */
  void recorded(Set<String> topics) {
    changed();
    if (opens() && !topics.isEmpty()) {
      recordedAfter = state.view.begun();
      // Shards may have been made since the topics were read.
      state.view.hinted();
    }
  }

  /** Members have subscribed to these topics. */
  void subscribed(Set<String> topics) {
    if (opens()) {
      fresh.addAll(topics);
    }
  }

  /** The topics were read. */
  void topicsRead() {
    if (recordedAfter >= 0 && isSeen()) {
      recordedAfter = -1;
      changed();
      group.plan().retarget();
      settle();
    }
  }

  /** A lease of the group became known. */
  void opened(Shard shard) {
    if (missing.containsKey(shard)) {
      missing.remove(shard);
      Shard next = newest(shard.topicId());
      if (next == null) {
        fresh.remove(state.topics().name(shard.topicId()));
        admit();
      } else if (next.shard() < state.topics().firstBeside(shard)) {
        group.plan().open(missing.subMap(next, new Shard(next.topicId(), -1)).keySet());
      }
    }
  }

  /** Of the shards of a topic that have no lease, the newest; null if there is none. */
  private Shard newest(int topicId) {
    Shard newest = missing.ceilingKey(new Shard(topicId, Integer.MAX_VALUE));
    return newest != null && newest.topicId() == topicId ? newest : null;
  }

  /**
   * Where to open the lease on a shard now; null: that has to wait. What begins later than at the
   * first message waits for the leases on later layouts: if this dispatcher ended between the two,
   * the next one would take it that the group had read the topic when they were made.
   */
  StartAt opensAt(Shard shard) {
    StartAt start = missing().get(shard);
    return start == null
            || start.kind() == StartAt.Kind.EARLIEST
            || state.topics().firstBeside(newest(shard.topicId())) <= shard.shard()
        ? start
        : null;
  }

  /** Lets those in that waited, if there is nothing more to wait for. */
  private void settle() {
    missing();
    fresh.removeIf(
        name -> {
          TopicInfo topic = state.topics().byName(name);
          return topic == null || newest(topic.id()) == null;
        });
    admit();
  }

  private void admit() {
    if (missing.isEmpty()) {
      heldSinceMillis = NOBODY;
    }
    state.waiting.recorded(group.name());
  }

  /** Whether leases of the group begin with its subscriptions. */
  boolean opens() {
    return state.level >= FeatureLevel.SUBSCRIPTIONS
        && group.info() != null
        && !group.info().policy().isBroadcast();
  }

  /** Whether the topics were read since the group's record named another one. */
  boolean isSeen() {
    return state.view.isNewerThan(recordedAfter);
  }

  /** Whether the group may have leases of which nothing is known here, or is about to get some. */
  boolean mayComeToLeases() {
    return !group.info().policy().isBroadcast()
        && (group.shards(state.topics()).stream().anyMatch(shard -> !state.isRead(shard))
            || opens() && (!isSeen() || !missing().isEmpty()));
  }

  /** The shards on which a lease must be opened, and where; see {@link #opensAt}. */
  NavigableMap<Shard, StartAt> missing() {
    if (!opens() || !isSeen() || group.forgetting()) {
      return Collections.emptyNavigableMap();
    }
    if (old) {
      old = false;
      NavigableMap<Shard, StartAt> next = new TreeMap<>(NEWEST_FIRST);
      group.info().topics().forEach(topic -> look(topic, next));
      missing = next;
    }
    return missing;
  }

  private void look(String name, NavigableMap<Shard, StartAt> next) {
    TopicInfo topic = state.topics().byName(name);
    if (topic == null || group.deletion(name) != null) {
      return;
    }
    Map<Shard, StartAt> starts = new HashMap<>();
    boolean decided = false;
    // Of the layouts before: has the group a lease there, and has each leader answered?
    boolean reads = false;
    boolean known = true;
    for (TopicInfo.Layout layout : topic.layouts()) {
      StartAt start = start(reads, known);
      for (int number = layout.first(); number < layout.end(); number++) {
        Shard shard = new Shard(topic.id(), number);
        known &= state.isRead(shard);
        if (group.shards().get(shard) != null) {
          reads = true;
        } else {
          StartAt before = missing.get(shard);
          decided |= before != null;
          starts.put(shard, before == null ? start : before);
        }
      }
    }
    if (!decided && starts.containsValue(null)) {
      // Leases on some shards would say that the group had read the others' layout before.
      starts.replaceAll((shard, start) -> null);
    }
    next.putAll(starts);
  }

  /**
   * Where the group begins in the shards of a layout. If it has a lease on a shard of an earlier
   * one, they were made while the group read the topic: then with their first messages. Null: the
   * leader of an earlier shard has not answered yet.
   *
   * @param reads whether it has such a lease
   * @param known whether the leaders of all earlier shards have answered
   */
  private StartAt start(boolean reads, boolean known) {
    if (reads) {
      return StartAt.EARLIEST;
    }
    StartAt start = group.info().start();
    return start.kind() == StartAt.Kind.EARLIEST || known ? start : null;
  }

  /** Leaders may have answered on which the start of some shards depends. */
  void lookAgain() {
    old |= missing.containsValue(null);
  }

  /**
   * Whether a run that joins is to be answered later, when the leases are there: what it then sends
   * comes to it. That takes a moment. If a shard has no leader, the run joins without that lease,
   * and hears that the group has not got it; others may stop just now because of this run.
   */
  boolean holdsUp(Collection<String> topics, long nowMillis) {
    if (!waits(topics)) {
      return false;
    }
    if (heldSinceMillis == NOBODY) {
      heldSinceMillis = nowMillis;
    }
    return nowMillis < heldSinceMillis + HOLD_MILLIS_MAX;
  }

  /** Time has passed. */
  void tick(long nowMillis) {
    if (heldSinceMillis != NOBODY && nowMillis >= heldSinceMillis + HOLD_MILLIS_MAX) {
      state.waiting.recorded(group.name());
    }
  }

  /**
   * Whether a member that reads those topics has to wait for leases. If the group has read a topic
   * before, it does not wait for shards whose leader has not answered: there may be a lease.
   */
  boolean waits(Collection<String> topics) {
    if (!opens()) {
      return false;
    }
    if (!isSeen() || !Collections.disjoint(fresh, topics)) {
      return true;
    }
    return missing().keySet().stream()
        .anyMatch(
            shard -> state.isRead(shard) && topics.contains(state.topics().name(shard.topicId())));
  }
}
