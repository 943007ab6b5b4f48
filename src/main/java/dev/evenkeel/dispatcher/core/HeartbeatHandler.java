package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Takes heartbeats: refuses what is wrong, holds those that need the topics read or the group
 * recorded first, and answers the others with their assignment.
 */
final class HeartbeatHandler {
  private final DispatcherSettings settings;
  private final Set<String> assignorNames;
  private final Groups groups;
  private final TopicView view;
  private final WaitingHeartbeats held;
  private final ClusterPlaces places;
  private final GroupRecords records;
  private final Assignments assignments;
  private final MoveFigures figures;
  private final Outbox out;

  /**
   * @param assignorNames those that members may ask for
   */
  HeartbeatHandler(
      DispatcherSettings settings,
      Set<String> assignorNames,
      Groups groups,
      TopicView view,
      WaitingHeartbeats held,
      ClusterPlaces places,
      GroupRecords records,
      Assignments assignments,
      MoveFigures figures,
      Outbox out) {
    this.settings = settings;
    this.assignorNames = new TreeSet<>(assignorNames);
    this.groups = groups;
    this.view = view;
    this.held = held;
    this.places = places;
    this.records = records;
    this.assignments = assignments;
    this.figures = figures;
    this.out = out;
  }

  void heartbeat(long request, Heartbeat beat, long nowMillis) {
    try {
      HeartbeatRules.check(beat);
    } catch (RefusedException e) {
      out.refuse(request, e.refusal(), e.getMessage());
      return;
    }
    Group group = groups.get(beat.group());
    if (group != null) {
      // Also of one that will be refused: the ages that it tells are of now.
      figures.heard(group.state(), beat, nowMillis);
      stalls(group, beat, nowMillis);
    }
    if (beat.leaving()) {
      leave(request, beat, nowMillis);
    } else {
      admit(new WaitingHeartbeats.Held(request, beat.withMarks(List.of()), false), nowMillis);
    }
  }

  private static void stalls(Group group, Heartbeat beat, long nowMillis) {
    GroupState state = group.state();
    Member member = state.members().live(beat.member());
    if (member == null || !member.instance().equals(beat.instance())) {
      return;
    }
    boolean passedBefore = state.stuck().passedOver(beat.instance());
    if (state.stuck().heard(beat, state.given(beat.member()), nowMillis)) {
      boolean passed = state.stuck().passedOver(beat.instance());
      state.cause = passedBefore && !passed ? Cause.RECOVERED : Cause.STUCK;
      group.plan().retarget();
    }
  }

  private void leave(long request, Heartbeat beat, long nowMillis) {
    Group group = groups.get(beat.group());
    if (group == null) {
      groups.endings().add(beat.instance(), Cause.LEAVE);
    } else {
      MemberTable.Ended ended = group.state().members().leave(beat.member(), beat.instance());
      if (ended != null) {
        group.ended(List.of(ended), out, nowMillis);
      }
    }
    out.add(
        new DispatcherAction.Answer(
            request, assignments.none(beat.group(), beat.member(), beat.instance())));
  }

  /** Takes up heartbeats that waited for a group's record. */
  void admit(List<WaitingHeartbeats.Held> waited, long nowMillis) {
    waited.forEach(each -> admit(each, nowMillis));
  }

  /** Takes up heartbeats that waited for the read {@code id} of the topics. */
  void topicsRead(long id, long nowMillis) {
    held.topicsRead(id).forEach(each -> admit(each.fresh(), nowMillis));
  }

  void topicsUnreadable(long id) {
    for (WaitingHeartbeats.Held each : held.topicsRead(id)) {
      out.refuse(each.request(), Refusal.UNAVAILABLE, "the topics cannot be read now: try again");
    }
  }

  /** All checks are made again for one that waited: it may have been overtaken by what changed. */
  private void admit(WaitingHeartbeats.Held arrival, long nowMillis) {
    Heartbeat beat = arrival.beat();
    long request = arrival.request();
    if (groups.endings().of(beat.instance()) == Cause.LEAVE) {
      out.refuse(
          request,
          Refusal.INVALID,
          "this run of " + beat.member() + " has left the group: a new run needs a new instance");
      return;
    }
    if (beat.clusterMember() != null && places.hasLeft(beat.clusterMember())) {
      out.refuse(
          request,
          Refusal.UNAVAILABLE,
          "the cluster member " + beat.clusterMember() + " has left: join the cluster afresh");
      return;
    }
    String unknown = view.topics().unknown(beat.topics());
    if (unknown != null) {
      if (arrival.topicsFresh()) {
        out.refuse(request, Refusal.UNKNOWN_TOPIC, "there is no topic '" + unknown + "'");
      } else {
        refuseDropped(held.forTopics(arrival, view.inFlight()));
        view.read();
      }
      return;
    }
    Group group = groups.get(beat.group());
    GroupInfo info = group == null ? null : group.state().info;
    if (group != null && records.forgetting().goesFirst(group.state(), beat.topics())) {
      refuseDropped(held.forGroup(arrival));
    } else if (info == null) {
      agree(arrival, null);
    } else if (!info.policy().equals(beat.policy()) || asksForAnother(beat, info)) {
      if (group.state().members().replaced(beat)) {
        // It has no say in what its later run has agreed on.
        take(group, request, beat, nowMillis);
      } else {
        agree(arrival, info);
      }
    } else if (!info.topics().containsAll(beat.topics())
        || records.mustBeSeen(group.state(), beat.topics())) {
      declare(arrival, false);
    } else {
      take(group, request, beat, nowMillis);
    }
  }

  private static boolean asksForAnother(Heartbeat beat, GroupInfo info) {
    String assignor = beat.wishes().assignor();
    return assignor != null && !assignor.equals(info.assignor());
  }

  /** The group is new, or runs with another policy or assignor. */
  private void agree(WaitingHeartbeats.Held arrival, GroupInfo info) {
    Heartbeat beat = arrival.beat();
    long request = arrival.request();
    boolean others =
        info != null && groups.get(beat.group()).state().members().othersThan(beat.member());
    String difference = info == null ? null : info.policy().differenceTo(beat.policy());
    boolean sameAssignor = info != null && !asksForAnother(beat, info);
    String assignor = beat.wishes().assignor();
    if (!sameAssignor && assignor != null && !assignorNames.contains(assignor)) {
      out.refuse(
          request,
          Refusal.INVALID,
          "unknown assignor '" + assignor + "': use " + String.join(" or ", assignorNames));
    } else if (others && difference != null) {
      out.refuse(request, Refusal.GROUP_MISMATCH, "group " + beat.group() + " " + difference);
    } else if (others && !sameAssignor) {
      out.refuse(
          request,
          Refusal.GROUP_MISMATCH,
          "group "
              + beat.group()
              + " uses assignor "
              + info.assignor()
              + ", not "
              + assignor
              + ": name the same or none while it has other members");
    } else if (beat.policy().isBroadcast()
        && info != null
        && !groups.get(beat.group()).state().book().all().isEmpty()) {
      // They would keep messages for ever, and a slip would lose where the group stands.
      out.refuse(
          request,
          Refusal.GROUP_MISMATCH,
          "group "
              + beat.group()
              + " has offsets in the log, from mode "
              + info.mode()
              + ": a group in mode broadcast has none, use another name");
    } else if (!settings.modes().contains(beat.mode())) {
      out.refuse(
          request,
          Refusal.INVALID,
          "unknown mode '"
              + beat.mode()
              + "': use "
              + String.join(" or ", new TreeSet<>(settings.modes())));
    } else {
      declare(arrival, info != null);
    }
  }

  private void declare(WaitingHeartbeats.Held arrival, boolean force) {
    refuseDropped(held.forGroup(arrival));
    records.declare(arrival.beat(), force);
  }

  private void refuseDropped(WaitingHeartbeats.Held dropped) {
    if (dropped != null) {
      out.refuse(dropped.request(), Refusal.OVERLOADED, "too many members join at once: try again");
    }
  }

  private void take(Group group, long request, Heartbeat beat, long nowMillis) {
    MemberTable members = group.state().members();
    if (members.live(beat.member()) == null && groups.memberCount() >= settings.membersMax()) {
      out.refuse(
          request,
          Refusal.OVERLOADED,
          "the cluster has " + settings.membersMax() + " members, which is its limit");
      return;
    }
    MemberTable.Heard heard = members.heard(beat, nowMillis);
    if (heard == MemberTable.Heard.REFUSED) {
      // It may have counted as alive until now.
      group.plan().retarget();
      out.refuse(
          request,
          Refusal.MEMBER_REPLACED,
          "a later run of member " + beat.member() + " has taken its place");
      return;
    }
    Member member = members.live(beat.member());
    if (heard != MemberTable.Heard.SAME) {
      group.state().cause =
          switch (heard) {
            case REPLACED_FORMER -> Cause.REPLACED;
            case CHANGED -> Cause.TOPIC;
            case CLOSING -> Cause.LEAVE;
            case RESIGNED -> Cause.RESIGNED;
            case JOINED -> Cause.JOIN;
            default -> group.state().cause;
          };
      out.add(new DispatcherAction.Register(member));
      switch (heard) {
        case JOINED, RETURNED, CHANGED -> group.plan().collect(nowMillis);
        default -> group.plan().retarget();
      }
    }
    out.add(new DispatcherAction.Answer(request, assignments.of(group.state(), member)));
  }
}
