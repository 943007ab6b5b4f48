package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.share.FairShare;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * Answers heartbeats with assignments. It refuses wrong ones, and lets those wait that need the
 * topics to be read or the group to be recorded first.
 */
final class HeartbeatHandler {
  private static final Set<String> MODES =
      new TreeSet<>(
          Set.of(
              GroupPolicy.MODE_SHARDED,
              GroupPolicy.MODE_LEVEL,
              GroupPolicy.MODE_BROADCAST,
              GroupPolicy.MODE_SINGLETON));

  private final DispatcherState state;
  private final Set<String> assignorNames;
  private final KnownClusterMembers places;
  private final GroupRecords records;
  private final Assignments assignments;
  private final MoveRecorder moves;

  /**
   * @param assignorNames those that members may ask for
   */
  HeartbeatHandler(
      DispatcherState state,
      Set<String> assignorNames,
      KnownClusterMembers places,
      GroupRecords records,
      Assignments assignments,
      MoveRecorder moves) {
    this.state = state;
    this.assignorNames = new TreeSet<>(assignorNames);
    this.places = places;
    this.records = records;
    this.assignments = assignments;
    this.moves = moves;
  }

  void heartbeat(long request, Heartbeat beat, long nowMillis) {
    try {
      HeartbeatRules.check(beat);
    } catch (RefusedException e) {
      state.out.refuse(request, e.refusal(), e.getMessage());
      return;
    }
    GroupState group = state.get(beat.group());
    if (group != null && group.members().ofAnother(beat)) {
      state.out.refuse(
          request,
          Refusal.FORBIDDEN,
          "this run of member " + beat.member() + " belongs to another user");
      return;
    }
    if (group != null) {
      // Also if it is refused later: the ages in it count from now.
      moves.heard(group, beat, nowMillis);
      stalls(group, beat, nowMillis);
    }
    if (beat.leaving()) {
      leave(request, beat, nowMillis);
    } else {
      admit(new WaitingHeartbeats.Arrival(request, beat.withMarks(List.of()), false), nowMillis);
    }
  }

  private static void stalls(GroupState group, Heartbeat beat, long nowMillis) {
    Member member = group.members().live(beat.member());
    if (member == null || !member.instance().equals(beat.instance())) {
      return;
    }
    boolean passedBefore = group.stuck().passedOver(beat.instance());
    if (group.stuck().heard(beat, group.given(beat.member()), nowMillis)) {
      boolean passed = group.stuck().passedOver(beat.instance());
      group.replan(passedBefore && !passed ? Cause.RECOVERED : Cause.STUCK);
    }
  }

  private void leave(long request, Heartbeat beat, long nowMillis) {
    GroupState group = state.get(beat.group());
    if (group == null) {
      state.endings.add(beat.instance(), MemberTable.causeOf(beat));
    } else {
      MemberTable.Ended ended = group.members().leave(beat, nowMillis);
      if (ended != null) {
        group.ended(List.of(ended), nowMillis);
      }
      if (group.steps() != null && state.alone.getAsBoolean()) {
        group.steps().left(beat.instance(), nowMillis);
        group.stepsChanged();
      }
    }
    state.out.add(
        new DispatcherAction.Answer(
            request, assignments.none(beat.group(), beat.member(), beat.instance())));
  }

  /** Takes up heartbeats that waited for a group's record. */
  void admitReady(long nowMillis) {
    state.waiting.takeReady().forEach(each -> admit(each, nowMillis));
  }

  /** Takes up heartbeats that waited for the read {@code id} of the topics. */
  void topicsRead(long id, long nowMillis) {
    state.waiting.topicsRead(id).forEach(each -> admit(each.fresh(), nowMillis));
  }

  void topicsUnreadable(long id) {
    for (WaitingHeartbeats.Arrival each : state.waiting.topicsRead(id)) {
      state.out.refuse(
          each.request(), Refusal.UNAVAILABLE, "the topics cannot be read now: try again");
    }
  }

  /** A heartbeat that waited goes through all checks again: things may have changed. */
  private void admit(WaitingHeartbeats.Arrival arrival, long nowMillis) {
    try {
      checkAndTake(arrival, nowMillis);
    } catch (RefusedException e) {
      state.out.refuse(arrival.request(), e.refusal(), e.getMessage());
    }
  }

  private void checkAndTake(WaitingHeartbeats.Arrival arrival, long nowMillis) {
    Heartbeat beat = arrival.beat();
    long request = arrival.request();
    Cause ending = state.endings.of(beat.instance());
    if (ending != null && ending.isLeaving()) {
      throw Refusal.INVALID.error(
          "this run of " + beat.member() + " has left the group: a new run needs a new instance");
    }
    if (beat.clusterMember() != null && places.hasLeft(beat.clusterMember())) {
      throw Refusal.UNAVAILABLE.error(
          "the connection " + beat.clusterMember() + " has ended: connect to the cluster afresh");
    }
    List<String> gone = state.topics().gone(beat.topics());
    boolean othersLeft = gone.size() < beat.topics().size();
    if (!gone.isEmpty() && !(othersLeft && namedBefore(beat, gone))) {
      if (!arrival.topicsFresh()) {
        refuseDropped(state.waiting.forTopics(arrival, state.view.inFlight()));
        state.view.read();
        return;
      }
      // What runs goes on with its other topics: somebody has deleted one.
      if (beat.joining() || !othersLeft) {
        throw Refusal.UNKNOWN_TOPIC.error("there is no topic '" + gone.get(0) + "'");
      }
    }
    if (lacksLevel(beat) && !arrival.topicsFresh()) {
      // The level of a new cluster rises in its first seconds, and a read of the topics tells it.
      refuseDropped(state.waiting.forTopics(arrival, state.view.inFlight()));
      state.view.read();
      return;
    }
    if (beat.policy().isSteps() || beat.policy().isSingleton()) {
      checkAlone();
    }
    GroupState group = state.get(beat.group());
    GroupInfo info = group == null ? null : group.info();
    if (beat.policy().isSteps()) {
      checkTrack(beat, group);
    } else if (info != null) {
      checkElection(beat, group);
    }
    GroupTopics.Reading reading = group == null ? null : group.reading(beat);
    if (group != null && records.forgetting().goesFirst(group, reading)) {
      refuseDropped(state.waiting.forGroup(arrival));
    } else if (info == null) {
      checkPolicy(beat, null);
      declare(arrival, false);
    } else if (!info.policy().equals(beat.policy()) || asksForAnother(beat, info)) {
      if (group.members().replaced(beat)) {
        // A later run of it has agreed on the policy already.
        take(group, request, beat, reading, nowMillis);
      } else {
        checkPolicy(beat, info);
        declare(arrival, true);
      }
    } else if (!reading.missing().isEmpty() && !group.topics().full()
        || group.topics().lacksPattern(info, beat)
        || records.mustBeSeen(group, reading.wanted())) {
      declare(arrival, false);
    } else {
      checkFilter(group, beat);
      checkFilterRoom(group, beat);
      if (joins(group, beat) && group.subscriptions().holdsUp(reading.read(), nowMillis)) {
        refuseDropped(state.waiting.forGroup(arrival));
      } else {
        take(group, request, beat, reading, nowMillis);
      }
    }
  }

  /**
   * An answer lets a leader and a track go on, and another dispatcher does not know of it. It may
   * count them as dead already, above all after this program stood still together with theirs.
   */
  private void checkAlone() {
    if (!state.alone.getAsBoolean()) {
      throw Refusal.UNAVAILABLE.error("the dispatcher does not know whether it still is one");
    }
  }

  private boolean lacksLevel(Heartbeat beat) {
    return beat.policy().isSteps() && state.level < FeatureLevel.COORDINATORS;
  }

  private void checkTrack(Heartbeat beat, GroupState group) {
    if (lacksLevel(beat)) {
      if (state.level < FeatureLevel.OLDEST) {
        throw Refusal.UNAVAILABLE.error("the cluster has just begun: try again");
      }
      throw Refusal.INVALID.error(
          "the cluster takes no tracks yet: upgrade all its nodes to this version first");
    }
    if (beat.seen() != null && assignments.neverMade(beat.seen())) {
      // It takes no assignment of this cluster for a later one, and would wait for ever.
      throw Refusal.FENCED.error(
          "track %s is of a cluster whose data is gone, and this one began without it: ask for"
              + " another track",
          beat.member());
    }
    if (group != null && group.steps() != null && group.steps().isFullFor(beat.instance())) {
      throw Refusal.OVERLOADED.error(
          "coordinator %s has %s tracks, which is the limit of one",
          beat.group(), StepLimits.TRACKS_MAX);
    }
    if (group != null
        && group.info() != null
        && (group.readsTopics() || !group.shards().isEmpty())) {
      throw Refusal.GROUP_MISMATCH.error(
          "group %s reads topics, and a coordinator has none: give the coordinator another name,"
              + " or delete the group first",
          beat.group());
    }
  }

  /** Whether this run has named these topics in a heartbeat that was taken, as far as is known. */
  private boolean namedBefore(Heartbeat beat, List<String> topics) {
    GroupState group = state.get(beat.group());
    return group != null && topics.stream().allMatch(topic -> group.members().reads(beat, topic));
  }

  /**
   * Topics came or went: what patterns match now is recorded without waiting for the next
   * heartbeat.
   */
  void topicsChanged(GroupState group) {
    group.resubscribe();
    for (Member member : group.members().live()) {
      GroupTopics.Reading reading = group.reading(member.beat());
      if (GroupTopics.hasPatterns(member.beat())
          && !reading.missing().isEmpty()
          && !group.topics().full()
          && group.info() != null
          && !records.forgetting().goesFirst(group, reading)) {
        records.declare(member.beat(), false);
        return;
      }
    }
  }

  /** A run that is a member already does not wait for leases: it would be taken for dead. */
  private static boolean joins(GroupState group, Heartbeat beat) {
    Member live = group.members().live(beat.member());
    return live == null || !live.instance().equals(beat.instance());
  }

  /** With different filters, nobody would know which messages the group has consumed. */
  private static void checkFilter(GroupState group, Heartbeat beat) {
    if (!group.members().hasFilterOf(beat)) {
      throw Refusal.GROUP_MISMATCH.error(
          "group %s takes %s, not %s: give all its members the same filter, or stop the others"
              + " first",
          beat.group(), filter(group.members().filter()), filter(beat.wishes().filter()));
    }
  }

  /** A group reads topics, or it is an election: its members do not mix. */
  private static void checkElection(Heartbeat beat, GroupState group) {
    if (beat.topics().isEmpty() && group.readsTopics()) {
      throw Refusal.GROUP_MISMATCH.error(
          "group %s reads topics, which an election has not: give the election a name of its own,"
              + " or delete the group first",
          beat.group());
    }
    if (!beat.topics().isEmpty() && group.isElection() && !group.members().isEmpty()) {
      throw Refusal.GROUP_MISMATCH.error(
          "group %s is an election, which has no topics: give the consumers another group, or stop"
              + " the candidates first",
          beat.group());
    }
  }

  /**
   * Checks whether there is room for the filter of a run that joins. A user gets no more while its
   * filters take as much as is left. Only a run with a large filter makes the dispatcher count.
   */
  private void checkFilterRoom(GroupState group, Heartbeat beat) {
    List<String> its = beat.wishes().filter();
    if (its == null || beat.policy().isBroadcast() || !joins(group, beat)) {
      return;
    }
    long chars = its.stream().mapToLong(String::length).sum();
    boolean counted = !beat.policy().isLevel() && group.members().filterChars() == chars;
    if (chars < DispatcherSettings.FILTER_CHARS_LARGE || counted) {
      return;
    }
    long all = 0;
    long own = 0;
    for (GroupState each : state.groups()) {
      long kept = each.members().filterChars();
      all += kept;
      own += kept > 0 && Objects.equals(each.members().anyUser(), beat.user()) ? kept : 0;
    }
    long max = DispatcherSettings.FILTER_CHARS_MAX;
    boolean fits =
        beat.user() == null
            ? all + chars <= max
            : FairShare.fits(own, all, chars, max, state.weight(beat.user()));
    if (!fits) {
      throw Refusal.OVERLOADED.error(
          "the filters of groups have %s letters, %s of them those of '%s', and there is no room"
              + " for %s more: use shorter filters, such as prefixes",
          all, own, beat.user(), chars);
    }
  }

  /** For people. */
  private static String filter(List<String> texts) {
    return texts == null
        ? MessageFilter.ALL.toString()
        : String.join(", ", MessageFilter.shown(texts));
  }

  private static boolean asksForAnother(Heartbeat beat, GroupInfo info) {
    String assignor = beat.wishes().assignor();
    return assignor != null && !assignor.equals(info.assignor());
  }

  /** The group is new, or runs with another policy or assignor. */
  private void checkPolicy(Heartbeat beat, GroupInfo info) {
    boolean others = info != null && state.get(beat.group()).members().othersThan(beat.member());
    String difference = info == null ? null : info.policy().differenceTo(beat.policy());
    boolean sameAssignor = info != null && !asksForAnother(beat, info);
    String assignor = beat.wishes().assignor();
    if (!sameAssignor && assignor != null && !assignorNames.contains(assignor)) {
      throw Refusal.INVALID.error(
          "unknown assignor '" + assignor + "': use " + String.join(" or ", assignorNames));
    }
    if (others && difference != null) {
      throw Refusal.GROUP_MISMATCH.error("group " + beat.group() + " " + difference);
    }
    if (others && !sameAssignor) {
      throw Refusal.GROUP_MISMATCH.error(
          "group %s uses assignor %s, not %s: name the same or none while it has other members",
          beat.group(), info.assignor(), assignor);
    }
    if (beat.policy().isBroadcast() && info != null) {
      GroupState group = state.get(beat.group());
      if (!group.shards().isEmpty()) {
        // Its leases would keep messages for ever, and deleting them by mistake would lose its
        // offsets.
        throw Refusal.GROUP_MISMATCH.error(
            "group %s has offsets in the log, from mode %s: a group in mode broadcast has none, use"
                + " another name",
            beat.group(), info.mode());
      }
      if (group.subscriptions().mayComeToLeases()) {
        throw Refusal.UNAVAILABLE.error(
            "group %s may have offsets in the log, from mode %s: try again, or use another name",
            beat.group(), info.mode());
      }
    }
    if (!MODES.contains(beat.mode())) {
      throw Refusal.INVALID.error(
          "unknown mode '" + beat.mode() + "': use " + String.join(" or ", MODES));
    }
  }

  private void declare(WaitingHeartbeats.Arrival arrival, boolean force) {
    refuseDropped(state.waiting.forGroup(arrival));
    records.declare(arrival.beat(), force);
  }

  private void refuseDropped(WaitingHeartbeats.Arrival dropped) {
    if (dropped != null) {
      state.out.refuse(
          dropped.request(), Refusal.OVERLOADED, "too many members join at once: try again");
    }
  }

  private void take(
      GroupState group, long request, Heartbeat sent, GroupTopics.Reading reading, long nowMillis) {
    // Members with the same subscription share it.
    Topics.Subscription subscription = reading.subscription();
    Heartbeat beat = sent.subscribing(subscription.entries(), subscription.allowed());
    Set<String> topics = reading.read();
    MemberTable members = group.members();
    if (members.live(beat.member()) == null) {
      MemberShare share = MemberShare.of(state, beat.user());
      // One that another dispatcher took in stays.
      share.require(members.isUnheard(beat.member(), beat.instance()));
    }
    MemberTable.Heard heard = members.heard(beat, topics, nowMillis);
    if (heard == MemberTable.Heard.REFUSED) {
      // It may have counted as alive until now.
      group.plan().retarget();
      throw Refusal.MEMBER_REPLACED.error(
          "a later run of member " + beat.member() + " has taken its place");
    }
    Member member = members.live(beat.member());
    if (beat.policy().isSteps()) {
      countSteps(group, beat, nowMillis);
    }
    switch (heard) {
      case REPLACED_FORMER -> group.replan(Cause.REPLACED);
      // It gets back what is still its own by the plan.
      case BACK -> group.replan(Cause.BACK);
      case CLOSING -> group.replan(Cause.LEAVE);
      case RESIGNED -> group.replan(Cause.RESIGNED);
      case HANDED_OVER -> group.plan().retarget();
      case CHANGED -> joins(group, Cause.TOPIC, nowMillis);
      case JOINED -> joins(group, Cause.JOIN, nowMillis);
      case RETURNED -> group.plan().joined(nowMillis);
      case SAME, REFUSED -> {}
    }
    if (heard != MemberTable.Heard.SAME) {
      state.out.add(new DispatcherAction.Register(member));
    }
    Assignment now = assignments.of(group, member);
    boolean seen = beat.seen() != null && beat.seen().is(now);
    Assignment answer = seen ? now.asUnchanged() : now;
    boolean opening = group.subscriptions().waits(topics);
    state.out.add(new DispatcherAction.Answer(request, opening ? answer.asOpening() : answer));
  }

  private void countSteps(GroupState group, Heartbeat beat, long nowMillis) {
    boolean fresh = beat.seen() != null && beat.seen().term() == assignments.term();
    boolean known =
        group
            .makeSteps(assignments.term())
            .heard(
                beat.member(),
                beat.instance(),
                beat.steps(),
                fresh,
                beat.policy().range(),
                beat.memberTimeoutMillis(),
                nowMillis);
    group.stepsChanged();
    if (!known) {
      throw Refusal.FENCED.error(
          "track %s was silent for longer than its member timeout: the others went on without it",
          beat.member());
    }
  }

  private static void joins(GroupState group, Cause why, long nowMillis) {
    group.changedBy(why);
    group.plan().joined(nowMillis);
  }
}
