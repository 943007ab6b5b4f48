package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Takes requests to forget a group, or a topic that a group no longer reads, and answers each when
 * nothing of it is left. A request is refused while members read it. If the obstacle will pass by
 * itself, the request waits for up to {@link #PATIENCE_MILLIS} milliseconds.
 */
final class ForgetHandler {
  /** How long a request waits before it is refused with the obstacle. */
  static final long PATIENCE_MILLIS = 20_000;

  /**
   * How long a new dispatcher waits before it forgets anything on request. By then every member has
   * sent a heartbeat, even one that had to join the cluster again and that the registry does not
   * name.
   */
  static final long LISTEN_MILLIS = 10_000;

  /** Most requests that wait or are under way. */
  static final int REQUESTS_MAX = 100;

  private static final int NAMES_MAX = 5;

  /** See {@link #settle}. */
  private static final long LATER_MILLIS = 100;

  /**
   * What stands in the way.
   *
   * @param passes whether it will pass by itself, as far as the dispatcher can see
   */
  record Obstacle(Refusal refusal, String detail, boolean passes) {}

  private static final class Wish {
    final GroupState group;

    /** Null: the whole group. */
    final String topic;

    /** A member that unsubscribes, although its heartbeat may not say so yet; or null. */
    final String leaver;

    final long untilMillis;

    /** The leaver reads the topic, or did so when it was known last: it may read it again. */
    boolean leaverReads;

    long triedMillis;

    Wish(GroupState group, String topic, String leaver, long untilMillis) {
      this.group = group;
      this.topic = topic;
      this.leaver = leaver;
      this.untilMillis = untilMillis;
    }
  }

  private record Begun(Deletion deletion, long untilMillis) {}

  private final DispatcherState state;
  private final Forgetting forgetting;
  private final Map<Long, Wish> waiting = new TreeMap<>();
  private final Map<Long, Begun> begun = new TreeMap<>();

  /** When this dispatcher began; null before its first turn. */
  private Long sinceMillis;

  ForgetHandler(DispatcherState state, Forgetting forgetting) {
    this.state = state;
    this.forgetting = forgetting;
  }

  /**
   * Takes a request. It is answered by {@link DispatcherAction.Forgotten} or {@link
   * DispatcherAction.Refuse}.
   */
  void ask(long request, String name, String topic, String leaver, long nowMillis) {
    GroupState group = state.get(name);
    Obstacle obstacle = obstacle(group, name, topic, leaver);
    if (obstacle != null && !obstacle.passes()) {
      state.out.refuse(request, obstacle.refusal(), obstacle.detail());
    } else if (waiting.size() + begun.size() >= REQUESTS_MAX) {
      state.out.refuse(
          request, Refusal.OVERLOADED, REQUESTS_MAX + " deletions wait: try again later");
    } else {
      waiting.put(request, new Wish(group, topic, leaver, nowMillis + PATIENCE_MILLIS));
    }
  }

  /** What stands in the way of forgetting a group, or a topic of it if not null; null: nothing. */
  Obstacle obstacle(String name, String topic) {
    return obstacle(state.get(name), name, topic, null);
  }

  private Obstacle obstacle(GroupState group, String name, String topic, String leaver) {
    if (group == null || group.info() == null && group.shards().isEmpty()) {
      return refused(Refusal.UNKNOWN_GROUP, "there is no group '" + name + "'");
    }
    if (topic != null && !knows(group, topic)) {
      return refused(
          Refusal.UNKNOWN_TOPIC,
          "group '"
              + name
              + "' does not read topic '"
              + topic
              + "': it reads "
              + (group.info() == null ? "none" : String.join(", ", group.info().topics())));
    }
    List<String> readers = new ArrayList<>();
    boolean leaves = false;
    for (Member member : group.members().live()) {
      if (topic == null || member.topics().contains(topic)) {
        if (member.name().equals(leaver)) {
          leaves = true;
        } else {
          String host = member.beat().host();
          readers.add("'" + member.name() + "'" + (host == null ? "" : " on " + host));
        }
      }
    }
    if (!readers.isEmpty()) {
      return refused(Refusal.GROUP_ACTIVE, tooMany(name, topic, readers));
    }
    if (leaves) {
      return waits("'" + leaver + "' still subscribes, by its last heartbeat");
    }
    for (UnheardMember run : group.members().unheard()) {
      if (topic == null || run.mayRead(topic)) {
        return waits("'" + run.name() + "' was not heard since the dispatcher changed");
      }
    }
    if (group.steps() != null && group.steps().anyCounts()) {
      return waits("a track that was not closed may still go on");
    }
    List<Shard> shards = new ArrayList<>();
    for (Lease lease : forgetting.leases(group, topic)) {
      shards.add(lease.shard());
      if (group.owner(lease) == ShardStep.Owner.ALIVE
          && !lease.owner().startsWith(Names.DISPATCHER_HOLDER)) {
        return waits(
            "'"
                + lease.owner()
                + "' has not released shard "
                + state.topics().name(lease.shard())
                + " yet");
      }
    }
    return group.plan().resets(shards) ? waits("a reset of the group is under way") : null;
  }

  private boolean knows(GroupState group, String topic) {
    return group.info() != null && group.info().reads(topic)
        || group.deletion(topic) != null
        || !forgetting.leases(group, topic).isEmpty();
  }

  private static String tooMany(String group, String topic, List<String> readers) {
    String named = String.join(", ", readers.subList(0, Math.min(NAMES_MAX, readers.size())));
    int more = readers.size() - NAMES_MAX;
    String who = readers.size() == 1 ? "member " + named : "members " + named;
    return (topic == null
            ? "group '" + group + "' is in use by "
            : "topic '" + topic + "' is read in group '" + group + "' by ")
        + who
        + (more > 0 ? " and " + more + " more" : "")
        + ": stop "
        + (readers.size() == 1 ? "it" : "them")
        + (topic == null ? "" : " or unsubscribe")
        + ", and try again";
  }

  private static Obstacle refused(Refusal refusal, String detail) {
    return new Obstacle(refusal, detail, false);
  }

  private static Obstacle waits(String detail) {
    return new Obstacle(Refusal.GROUP_ACTIVE, detail + ": try again in a moment", true);
  }

  /**
   * Begins with requests that have no obstacle any more, and answers those that are over.
   *
   * @param group of which alone something has changed: requests about others are looked at a little
   *     later; null: any
   */
  void settle(String group, long nowMillis) {
    if (sinceMillis == null) {
      sinceMillis = nowMillis;
    }
    begun.entrySet().removeIf(each -> answered(each.getKey(), each.getValue(), nowMillis));
    waiting
        .entrySet()
        .removeIf(
            each -> {
              Wish wish = each.getValue();
              return (group == null
                      || wish.group.name().equals(group)
                      || nowMillis - wish.triedMillis >= LATER_MILLIS)
                  && tried(each.getKey(), wish, nowMillis);
            });
  }

  /** Returns whether the request waits no more: it is refused, or its deletion has begun. */
  private boolean tried(long request, Wish wish, long nowMillis) {
    GroupState group = wish.group;
    wish.triedMillis = nowMillis;
    Obstacle obstacle =
        !state.has(group)
            ? refused(Refusal.UNKNOWN_GROUP, "there is no group '" + group.name() + "' any more")
            : obstacle(group, group.name(), wish.topic, wish.leaver);
    boolean leaverReads = leaverReads(wish);
    if (obstacle == null && leaverReads) {
      obstacle =
          refused(
              Refusal.GROUP_ACTIVE,
              "'" + wish.leaver + "' has ended, and had not unsubscribed by its last heartbeat");
    }
    if (obstacle == null && nowMillis - sinceMillis < LISTEN_MILLIS) {
      obstacle = waits("the dispatcher has just started and may not know all members yet");
    }
    if (obstacle == null) {
      boolean begins = underWay(wish) != null || !group.metaBusy();
      if (begins) {
        begun.put(request, new Begun(begin(wish), wish.untilMillis));
      }
      return begins;
    }
    if (obstacle.passes() && nowMillis < wish.untilMillis) {
      return false;
    }
    // A consumer that unsubscribes asks again; a person reads the obstacle.
    boolean patient = obstacle.passes() && wish.leaver != null;
    state.out.refuse(
        request, patient ? Refusal.UNAVAILABLE : obstacle.refusal(), obstacle.detail());
    return true;
  }

  /**
   * Whether the leaver reads the topic, as far as was known last. One that subscribes again does
   * not take its request back.
   */
  private static boolean leaverReads(Wish wish) {
    if (wish.leaver != null && wish.topic != null) {
      MemberTable members = wish.group.members();
      Member member = members.live(wish.leaver);
      wish.leaverReads =
          member != null
              ? member.topics().contains(wish.topic)
              : wish.leaverReads
                  || members.unheard().stream()
                      .anyMatch(run -> run.name().equals(wish.leaver) && run.mayRead(wish.topic));
    }
    return wish.leaverReads;
  }

  /** Begins with it, unless that or its whole group is being forgotten. */
  private Deletion begin(Wish wish) {
    Deletion underWay = underWay(wish);
    return underWay == null ? forgetting.begin(wish.group, wish.topic) : underWay;
  }

  private static Deletion underWay(Wish wish) {
    Deletion whole = wish.group.deletion(null);
    return whole == null ? wish.group.deletion(wish.topic) : whole;
  }

  private boolean answered(long request, Begun of, long nowMillis) {
    Deletion deletion = of.deletion();
    if (deletion.over && deletion.refused == null) {
      state.out.add(new DispatcherAction.Forgotten(request));
    } else if (deletion.over) {
      state.out.refuse(request, deletion.refused.refusal(), deletion.refused.detail());
    } else if (nowMillis >= of.untilMillis()) {
      state.out.refuse(
          request,
          Refusal.INDETERMINATE,
          "not all is gone yet, because a log group has no leader: the rest goes as soon as it"
              + " has one");
    } else {
      return false;
    }
    return true;
  }

  /** Refuses what still waits. */
  void stop(Refusal refusal, String detail) {
    waiting.keySet().forEach(request -> state.out.refuse(request, refusal, detail));
    begun.keySet().forEach(request -> state.out.refuse(request, refusal, detail));
    waiting.clear();
    begun.clear();
  }
}
