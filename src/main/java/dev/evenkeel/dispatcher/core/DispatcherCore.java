package dev.evenkeel.dispatcher.core;

import dev.evenkeel.assign.Assignor;
import dev.evenkeel.bus.GroupScope;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.bus.ShareUse;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicInfo;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * Decides what the active dispatcher does, without clock and I/O: each input returns the actions
 * that follow from it. One instance serves one activation. When this node becomes the dispatcher
 * again, a new one starts from the log and the registry.
 *
 * <p>Times are milliseconds since 1970 of a clock that never goes back. Not thread-safe.
 *
 * <p>The log has the last word: each step of a shard is a compare-and-set there. So two dispatchers
 * at once, a lost answer or a wrong map cost time, but not safety.
 *
 * <p>This class only defines the order. {@link HeartbeatHandler} takes heartbeats, {@link
 * GroupRecords} records groups, {@link ShardLeases} reads leases and sends the requests that each
 * group's {@link GroupPlan} wants, {@link MoveRecorder} records moves, and {@link Assignments} give
 * members their assignments.
 */
public final class DispatcherCore {
  private final DispatcherState state;
  private final KnownClusterMembers places;
  private final Assignments assignments;
  private final ActiveTime time;
  private final MoveRecorder moves;
  private final GroupLeases groupLeases;
  private final ShardLeases leases;
  private final GroupRecords records;
  private final HeartbeatHandler heartbeats;
  private final ResetHandler resets;
  private final ForgetHandler forgets;
  private final Set<String> assignorNames;
  private long rebalanceAtMillis;

  /**
   * @param assignors gives the assignor of a name, or null if it knows none; it must know {@link
   *     GroupInfo#ASSIGNOR_DEFAULT}, which also serves groups whose own it does not know
   * @param assignorNames those that members may ask for
   * @param term of this activation: higher than that of every earlier dispatcher
   * @param revision assignments are numbered from here; of two activations in one term the later
   *     must be given the {@link #revision()} of the earlier
   * @param clusterMembers ids of the cluster's members now
   */
  public DispatcherCore(
      DispatcherSettings settings,
      Function<String, Assignor> assignors,
      Set<String> assignorNames,
      long term,
      long revision,
      Set<String> clusterMembers) {
    state = new DispatcherState(settings, assignors);
    this.assignorNames = assignorNames;
    places = new KnownClusterMembers(clusterMembers);
    assignments = new Assignments(state, term, revision);
    time = new ActiveTime(state);
    moves = new MoveRecorder(state);
    groupLeases = new GroupLeases(state, assignments, moves);
    leases = new ShardLeases(state, moves, groupLeases);
    records = new GroupRecords(state, time, leases);
    heartbeats = new HeartbeatHandler(state, assignorNames, places, records, assignments, moves);
    resets = new ResetHandler(state);
    forgets = new ForgetHandler(state, records.forgetting());
    state.view.reader(this::viewRead);
  }

  /**
   * Loads the rebalance history. Call it before {@link #recover}, which adds the moves that the
   * leases show and the history lacks.
   *
   * @param oldestFirst as the meta log has it
   */
  public void recall(List<MoveRecord> oldestFirst) {
    state.moves.recall(oldestFirst);
  }

  /**
   * Sets how to find out whether no other dispatcher can be active now. Only then leaders go on,
   * and tracks of coordinators get further. Without it, none is.
   */
  public void aloneIf(BooleanSupplier alone) {
    state.alone = alone;
  }

  /**
   * Says from now on which {@code share} users have: see {@link dev.evenkeel.bus.share.FairShare}.
   */
  public void weigh(ToDoubleFunction<String> weights) {
    state.weights = weights;
  }

  /** How many groups it has in memory, also those that are not recorded yet. */
  int groupsKnown() {
    return state.groups().size();
  }

  /** How many members each user has. */
  public List<ShareUse> memberUse() {
    return MemberShare.uses(state);
  }

  /**
   * Takes the feature level of the cluster. Call it before {@link #recover}, and before each answer
   * to {@link DispatcherAction.ReadView}.
   */
  public void featureLevel(int level) {
    // A node that answers late may say less than others before.
    if (level > state.level) {
      state.level = level;
      state.groups().forEach(group -> group.plan().topicsChanged());
    }
  }

  /** The feature level of the cluster, as far as it is known. */
  public int featureLevel() {
    return state.level;
  }

  /**
   * Starts from what the log and the registry say.
   *
   * @param registered members that the registry names; empty if the map is lost
   */
  public List<DispatcherAction> recover(
      List<TopicInfo> activeTopics,
      List<GroupInfo> infos,
      List<ShardStatus> statuses,
      List<UnheardMember> registered,
      long nowMillis) {
    state.view.show(activeTopics);
    infos.forEach(info -> state.make(info.name()).show(info));
    infos.forEach(info -> state.recordedBefore.add(info.name()));
    state.tracksUnknownUntilMillis = nowMillis + Limits.TRACK_TIMEOUT_MILLIS_MAX;
    state.groups().forEach(group -> group.doubtRecord(state.topics().names()));
    for (UnheardMember run : registered) {
      GroupState group = state.get(run.group());
      if (group != null) {
        group.members().sighted(run);
      }
    }
    leases.first(statuses, nowMillis);
    groupLeases.sightLeaders(nowMillis);
    time.look(nowMillis);
    rebalanceAtMillis = nowMillis + state.settings.rebalanceMillis();
    state.groups().forEach(group -> group.plan().retarget());
    return done(nowMillis);
  }

  /** A request was answered; a further answer to it counts for nothing. */
  public <R> List<DispatcherAction> answered(
      DispatcherAction.Request<R> request, R answer, long nowMillis) {
    state.out.answered(request, answer, nowMillis);
    return done(nowMillis);
  }

  /**
   * Several requests were answered.
   *
   * @param answers to each of them, in their order
   */
  public <R> List<DispatcherAction> answered(
      List<? extends DispatcherAction.Request<R>> requests, List<R> answers, long nowMillis) {
    for (int i = 0; i < requests.size(); i++) {
      state.out.answered(requests.get(i), answers.get(i), nowMillis);
    }
    return done(nowMillis);
  }

  // ---- Members

  /**
   * A heartbeat. It is answered by {@link DispatcherAction.Answer} or {@link
   * DispatcherAction.Refuse}, now or after the log or the topics were asked.
   *
   * @param request names it in the answer
   */
  public List<DispatcherAction> heartbeat(long request, Heartbeat beat, long nowMillis) {
    if (GroupLeases.isHolder(beat)) {
      groupLeases.heartbeat(request, beat, nowMillis);
    } else {
      heartbeats.heartbeat(request, beat, nowMillis);
    }
    return done(beat.group(), nowMillis);
  }

  /**
   * Takes the cluster's members as they are now. Consumers that ran in one that has left have
   * ended.
   */
  public List<DispatcherAction> clusterMembers(Set<String> ids, long nowMillis) {
    Set<String> gone = places.present(ids);
    if (!gone.isEmpty()) {
      endMembersIn(gone, nowMillis);
    }
    return done(nowMillis);
  }

  /**
   * A session has ended, and so have the consumers whose last heartbeat came from it. Later
   * heartbeats from it are refused.
   */
  public List<DispatcherAction> sessionEnded(String session, long nowMillis) {
    places.sessionEnded(session);
    endMembersIn(Set.of(session), nowMillis);
    return done(nowMillis);
  }

  /** A session that was taken for ended has a connection: heartbeats from it count again. */
  public void sessionFound(String session) {
    places.sessionFound(session);
  }

  /** Ends a member as if nothing had been heard of it for its timeout. */
  public List<DispatcherAction> expire(String group, String member, long nowMillis) {
    GroupState of = state.find(group);
    if (of != null) {
      of.ended(of.members().expire(member, nowMillis), nowMillis);
    }
    return done(nowMillis);
  }

  private void endMembersIn(Set<String> gone, long nowMillis) {
    for (GroupState group : state.groups()) {
      group.ended(group.members().clusterMembersLeft(gone, nowMillis), nowMillis);
    }
  }

  // ---- Topics

  /** A broker says that topics changed. */
  public List<DispatcherAction> topicsChanged(long nowMillis) {
    state.view.hinted();
    return done(nowMillis);
  }

  private void viewRead(long id, List<TopicInfo> activeTopics, long nowMillis) {
    if (activeTopics == null) {
      heartbeats.topicsUnreadable(id);
    } else {
      Topics.Change change = state.view.show(activeTopics);
      if (!change.isEmpty()) {
        otherShards(change);
      }
      heartbeats.topicsRead(id, nowMillis);
      state.groups().forEach(group -> group.subscriptions().topicsRead());
    }
    state.view.readAgain(state.waiting.needsTopics());
  }

  /** Groups that have nothing to do with these topics are left alone. */
  private void otherShards(Topics.Change change) {
    state.topicsChanged(change);
    change.gone().forEach(leases::gone);
    // The log may have taken topics that are new into the records of groups with patterns.
    state.groups().forEach(group -> group.doubtRecord(change.come()));
    boolean any = false;
    for (GroupState group : state.groups()) {
      if (group.isConcernedBy(change)) {
        any = true;
        group.changedBy(Cause.TOPIC);
        group.plan().topicsChanged();
        group.members().live().forEach(m -> group.assignmentChanged(m.name()));
        heartbeats.topicsChanged(group);
      }
    }
    if (any) {
      leases.readTopics(change.ids());
    }
  }

  // ---- Groups that one run holds

  /**
   * Appoints the run that is to own all shards of a group, in a mode in which one run does.
   *
   * @param instance the run, which has not sent a heartbeat yet; null: nobody, until another call
   */
  public List<DispatcherAction> appoint(String group, String instance, long nowMillis) {
    GroupState of = state.get(group);
    if (of != null) {
      of.appoint(instance);
    }
    return done(nowMillis);
  }

  /**
   * Answers {@link DispatcherAction.ReadGroupLeases}; to be called before {@link #recover}, too.
   *
   * @param leases of all groups; null if they cannot be read now
   */
  public List<DispatcherAction> groupLeasesRead(List<GroupLease> leases, long nowMillis) {
    groupLeases.read(leases);
    groupLeases.sightLeaders(nowMillis);
    return done(nowMillis);
  }

  // ---- Leases

  /**
   * A read of fresh figures for a report; its answer goes to {@link #answered} like any other.
   *
   * @param group null: of all groups
   */
  public DispatcherAction.ReadLeases look(String group) {
    return leases.look(group);
  }

  /**
   * The same for some groups, on the shards of some topics.
   *
   * @param topics their numbers
   */
  public DispatcherAction.ReadLeases look(Set<Integer> topics, Set<String> groups) {
    return leases.look(topics, groups);
  }

  /** A broker says that a lease changed. */
  public List<DispatcherAction> leaseChanged(LeaseChange change, long nowMillis) {
    leases.hinted(change, nowMillis);
    return done(nowMillis);
  }

  /**
   * Resets a group to another offset on some shards. It is answered by {@link
   * DispatcherAction.ResetDone} or {@link DispatcherAction.Refuse}; the log decides about each
   * shard.
   *
   * @param request names it in the answer
   * @param force take the shards from their owners, by a hand-over if they are alive
   */
  public List<DispatcherAction> reset(
      long request, String group, List<Shard> shards, StartAt to, boolean force, long nowMillis) {
    resets.ask(request, group, shards, to, force, nowMillis);
    return done(nowMillis);
  }

  /**
   * Forgets a group, or its subscription to a topic, with all its state there. It is answered by
   * {@link DispatcherAction.Forgotten} or {@link DispatcherAction.Refuse}.
   *
   * @param request names it in the answer
   * @param topic null: the whole group
   * @param leaver a member that has said it unsubscribes from the topic, or null
   */
  public List<DispatcherAction> forget(
      long request, String group, String topic, String leaver, long nowMillis) {
    forgets.ask(request, group, topic, leaver, nowMillis);
    return done(nowMillis);
  }

  /** Why {@link #forget} would be refused now, or would have to wait; null if it would not. */
  public Reply.Refused whyNotForgotten(String group, String topic) {
    ForgetHandler.Obstacle obstacle = forgets.obstacle(group, topic);
    return obstacle == null ? null : Reply.refused(obstacle.refusal(), obstacle.detail());
  }

  // ---- Time

  /** To be called a few times a second. */
  public List<DispatcherAction> tick(long nowMillis) {
    for (GroupState group : state.groups()) {
      group.ended(group.members().expire(nowMillis), nowMillis);
      group.plan().wake(nowMillis);
      group.subscriptions().tick(nowMillis);
      group.tickSteps(nowMillis);
    }
    groupLeases.tick(nowMillis);
    if (nowMillis >= rebalanceAtMillis) {
      rebalanceAtMillis = nowMillis + state.settings.rebalanceMillis();
      rebalance(nowMillis);
    }
    return done(nowMillis);
  }

  /**
   * When {@link #wake} wants to be called, in milliseconds since 1970, if nothing else comes
   * before; {@link Long#MAX_VALUE}: not at all.
   */
  public long dueMillis() {
    return state.dirty.dueMillis();
  }

  /** The time of {@link #dueMillis} has come. */
  public List<DispatcherAction> wake(long nowMillis) {
    return done(nowMillis);
  }

  private void rebalance(long nowMillis) {
    state.view.read();
    leases.readAll();
    records.read();
    time.look(nowMillis);
    state.groups().removeIf(GroupState::blank);
    for (GroupState group : state.groups()) {
      group.plan().retargetInTime();
      group.stuck().retain(group.members().live());
      records.tend(group);
      group.members().live().forEach(m -> state.out.add(new DispatcherAction.Register(m)));
    }
  }

  /** Refuses the requests that still wait: this node is not the dispatcher any more. */
  public List<DispatcherAction> stop(Refusal refusal, String detail) {
    state.waiting.all().forEach(each -> state.out.refuse(each.request(), refusal, detail));
    resets.stop(refusal, detail);
    forgets.stop(refusal, detail);
    return state.out.take();
  }

  private List<DispatcherAction> done(long nowMillis) {
    return done(null, nowMillis);
  }

  /**
   * @param group which alone may have changed; null: others, too
   */
  private List<DispatcherAction> done(String group, long nowMillis) {
    heartbeats.admitReady(nowMillis);
    leases.pump(nowMillis);
    moves.pump(nowMillis);
    resets.settle(nowMillis);
    forgets.settle(group, nowMillis);
    return state.out.take();
  }

  // ---- Pushes

  /** Whether {@link #pushes()} would return anything. */
  public boolean pushesDue() {
    return state.dirty.anyToPush();
  }

  /**
   * Assignments for members whose shards changed. Called a moment after a change, so that many
   * changes make one push.
   */
  public List<DispatcherAction> pushes() {
    assignments.push();
    return state.out.take();
  }

  /** Their assignments for the members of a group once more; for some of them, if it has many. */
  public List<DispatcherAction> pushAgain(String group) {
    assignments.pushAgain(group);
    return state.out.take();
  }

  // ---- For those who look

  /** Whether a member that counts as alive was last seen in this session or cluster member. */
  public boolean anyMemberIn(String clusterMember) {
    return state.groups().stream().anyMatch(group -> group.members().anyIn(clusterMember));
  }

  /** Whether a session is known to have ended, or a cluster member to have left. */
  public boolean hasLeft(String clusterMember) {
    return places.hasLeft(clusterMember);
  }

  /** The sessions and cluster members that the last heartbeats of live members came from. */
  public Set<String> heardFrom() {
    Set<String> heard = new HashSet<>();
    for (GroupState group : state.groups()) {
      for (Member member : group.members().live()) {
        String from = member.beat().clusterMember();
        if (from != null && !places.hasLeft(from)) {
          heard.add(from);
        }
      }
    }
    return heard;
  }

  /** The number of the last assignment made. */
  public long revision() {
    return assignments.revision();
  }

  public long term() {
    return assignments.term();
  }

  public Topics topics() {
    return state.topics();
  }

  public MoveLog moves() {
    return state.moves;
  }

  /**
   * What is to be planned to find out what would be with a change of a group; nothing is changed.
   *
   * @return null if there is no such group
   * @throws dev.evenkeel.protocol.RefusedException if the group or the change does not allow it
   */
  public WhatIf.Question whatIf(String group, WhatIf change) {
    String assignor = change.assignor();
    if (assignor != null && !assignorNames.contains(assignor)) {
      throw Refusal.INVALID.error(
          "there is no assignor '%s': use one of %s",
          assignor, String.join(", ", new TreeSet<>(assignorNames)));
    }
    GroupState of = state.find(group);
    return of == null ? null : change.of(of, state.topics(), state::assignor);
  }

  /** A group that is declared or has members, or null. */
  public GroupState find(String name) {
    return state.find(name);
  }

  /** All groups that {@link #find} finds, by name. */
  public List<GroupState> all() {
    return state.found();
  }

  /** Those of {@link #all} that are in a scope. */
  public List<GroupState> all(GroupScope scope) {
    return state.found(scope);
  }
}
