package dev.evenkeel.dispatcher.core;

import dev.evenkeel.assign.Assignor;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicInfo;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * What the active dispatcher does, without clock and I/O: every input gives the actions that follow
 * from it. One instance serves one activation; it is made anew from the log and the registry when
 * this node becomes the dispatcher again.
 *
 * <p>Times are milliseconds since 1970 of a clock that never goes back. Not thread-safe.
 *
 * <p>Nothing here is decided for good: each step of a shard is a compare and set in the log, so two
 * dispatchers at once, a lost answer or a wrong map can cost time but not safety.
 *
 * <p>Here is the order of things only. Heartbeats are taken at the {@link HeartbeatHandler}, groups
 * are recorded by {@link GroupRecords}, moves by {@link MoveWrites}, leases are read by {@link
 * LeaseReads} and moved by {@link LeaseWrites} as each group's {@link GroupPlan} wants, and {@link
 * Assignments} tell members.
 */
public final class DispatcherCore {
  private final DispatcherSettings settings;
  private final Outbox out = new Outbox();
  private final MoveLog moves = new MoveLog();
  private final MoveFigures figures = new MoveFigures(moves);
  private final TopicView view = new TopicView(out);
  private final DirtyGroups agenda = new DirtyGroups();
  private final ShardEnds ends = new ShardEnds();
  private final Groups groups;
  private final WaitingHeartbeats held;
  private final ClusterPlaces places;
  private final Assignments assignments;
  private final ActiveTime time;
  private final GroupRecords records;
  private final HeartbeatHandler desk;
  private final LeaseNews news;
  private final LeaseReads reads;
  private final LeaseWrites writes;
  private final MoveWrites moveWrites;
  private final GroupLeases groupLeases;
  private final ResetHandler resets;
  private final ForgetHandler forgets;
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
    this.settings = settings;
    groups = new Groups(settings, assignors, agenda, ends);
    held = new WaitingHeartbeats(settings.heldMax());
    places = new ClusterPlaces(clusterMembers);
    assignments = new Assignments(groups, view, agenda, out, term, revision);
    time = new ActiveTime(settings, out);
    MissedMoves missed = new MissedMoves(moves, figures, view);
    news = new LeaseNews(settings, groups, view, missed, out);
    records = new GroupRecords(settings, groups, view, held, moves, time, news, out);
    desk =
        new HeartbeatHandler(
            settings,
            assignorNames,
            groups,
            view,
            held,
            places,
            records,
            assignments,
            figures,
            out);
    reads = new LeaseReads(groups, news, ends, out);
    groupLeases = new GroupLeases(groups, assignments, figures, out, settings.retryMillis());
    writes = new LeaseWrites(groups, view, news, reads, figures, missed, agenda, groupLeases, out);
    moveWrites = new MoveWrites(moves, out, settings.retryMillis());
    resets = new ResetHandler(groups, view, out);
    forgets = new ForgetHandler(groups, view, records.forgetting(), out);
  }

  /** Every group uses one assignor, by whatever name. */
  public DispatcherCore(
      DispatcherSettings settings,
      Assignor assignor,
      long term,
      long revision,
      Set<String> clusterMembers) {
    this(settings, name -> assignor, Set.of(assignor.name()), term, revision, clusterMembers);
  }

  /**
   * Takes up the rebalance history; to be called before {@link #recover}, which adds the moves that
   * the leases show and the history lacks.
   *
   * @param oldestFirst as the meta log has it
   */
  public void recall(List<MoveRecord> oldestFirst) {
    moves.recall(oldestFirst);
  }

  /**
   * Takes over from what the log and the registry say.
   *
   * @param registered members by the registry; none if the map is lost
   */
  public List<DispatcherAction> recover(
      List<TopicInfo> activeTopics,
      List<GroupInfo> infos,
      List<ShardStatus> statuses,
      List<UnheardMember> registered,
      long nowMillis) {
    view.show(new Topics(activeTopics));
    for (GroupInfo info : infos) {
      groups.make(info.name()).state().info = info;
    }
    for (UnheardMember ghost : registered) {
      Group group = groups.get(ghost.group());
      if (group != null) {
        group.state().members().sighted(ghost);
      }
    }
    reads.first(statuses, nowMillis);
    rebalanceAtMillis = nowMillis + settings.rebalanceMillis();
    groups.all().forEach(group -> group.plan().retarget());
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
      desk.heartbeat(request, beat, nowMillis);
    }
    return done(nowMillis);
  }

  /** The cluster's members now. Those gone take the consumers with them that named them. */
  public List<DispatcherAction> clusterMembers(Set<String> ids, long nowMillis) {
    Set<String> gone = places.present(ids);
    if (!gone.isEmpty()) {
      for (Group group : groups.all()) {
        group.ended(group.state().members().clusterMembersLeft(gone, nowMillis), out, nowMillis);
      }
    }
    return done(nowMillis);
  }

  // ---- Topics

  /** Somebody says that topics changed. */
  public List<DispatcherAction> topicsChanged(long nowMillis) {
    view.hinted();
    return done(nowMillis);
  }

  /**
   * Answers {@link DispatcherAction.ReadView}.
   *
   * @param activeTopics null if they cannot be read now
   */
  public List<DispatcherAction> viewRead(long id, List<TopicInfo> activeTopics, long nowMillis) {
    if (!view.answered(id)) {
      return done(nowMillis);
    }
    if (activeTopics == null) {
      desk.topicsUnreadable(id);
    } else {
      if (view.show(new Topics(activeTopics))) {
        otherShards();
      }
      desk.topicsRead(id, nowMillis);
    }
    view.readAgain(held.needsTopics());
    return done(nowMillis);
  }

  private void otherShards() {
    ends.retain(view.topics());
    for (Group group : groups.all()) {
      group.state().cause = Cause.TOPIC;
      group.plan().topicsChanged(view.topics());
      group.state().members().live().forEach(m -> group.state().assignmentChanged(m.name()));
    }
    reads.readAll();
  }

  // ---- Groups in the meta log

  /** Answers {@link DispatcherAction.WriteMeta}. */
  public List<DispatcherAction> metaWritten(long id, Reply reply, long nowMillis) {
    if (!moveWrites.written(id, reply, nowMillis)
        && !groupLeases.written(id, reply)
        && !time.written(id, reply)) {
      desk.admit(records.written(id, reply, nowMillis), nowMillis);
    }
    return done(nowMillis);
  }

  /**
   * Answers {@link DispatcherAction.ReadGroups}.
   *
   * @param infos null if they cannot be read now
   */
  public List<DispatcherAction> groupsRead(long id, List<GroupInfo> infos, long nowMillis) {
    records.read(id, infos);
    return done(nowMillis);
  }

  /**
   * Answers {@link DispatcherAction.ForgetLeases}.
   *
   * @param reply {@link Reply.OfNumber} of the highest number that a data group answered, or the
   *     refusal of one
   */
  public List<DispatcherAction> leasesForgotten(long id, Reply reply, long nowMillis) {
    desk.admit(records.forgetting().answered(id, reply, nowMillis), nowMillis);
    return done(nowMillis);
  }

  // ---- Groups that one run holds

  /**
   * That run shall hold all shards of a group, in a mode in which one does.
   *
   * @param instance which is not heard yet; null: nobody shall, until another call
   */
  public List<DispatcherAction> appoint(String group, String instance, long nowMillis) {
    Group of = groups.get(group);
    if (of != null) {
      groupLeases.appoint(of, instance);
    }
    return done(nowMillis);
  }

  /**
   * Answers {@link DispatcherAction.ReadGroupLeases}; to be called before {@link #recover}, too.
   *
   * @param leases null if they cannot be read now
   */
  public List<DispatcherAction> groupLeasesRead(List<GroupLease> leases, long nowMillis) {
    if (leases == null) {
      groupLeases.unreadable();
    } else {
      groupLeases.read(leases);
    }
    return done(nowMillis);
  }

  // ---- Leases

  /**
   * A read for somebody who wants to look at fresh figures; it is answered like the others.
   *
   * @param group null: of all groups
   */
  public DispatcherAction.ReadLeases look(String group) {
    return reads.look(group);
  }

  /**
   * Answers {@link DispatcherAction.ReadLeases}.
   *
   * @param statuses of the shards whose leaders answered; null if none did
   */
  public List<DispatcherAction> leasesRead(long id, List<ShardStatus> statuses, long nowMillis) {
    reads.answered(id, statuses, nowMillis);
    return done(nowMillis);
  }

  /** A broker says that a lease changed. */
  public List<DispatcherAction> leaseChanged(LeaseChange change, long nowMillis) {
    news.hinted(change, nowMillis);
    return done(nowMillis);
  }

  /** Answers {@link DispatcherAction.Write}. */
  public List<DispatcherAction> written(long id, Reply reply, long nowMillis) {
    writes.answered(id, reply, nowMillis);
    return done(nowMillis);
  }

  /**
   * Sets a group to another place on some shards. It is answered by {@link
   * DispatcherAction.ResetDone} or {@link DispatcherAction.Refuse}; the log decides about each
   * shard.
   *
   * @param request names it in the answer
   * @param force owners of those shards lose them, in good order if they can
   */
  public List<DispatcherAction> reset(
      long request, String group, List<Shard> shards, StartAt to, boolean force, long nowMillis) {
    resets.ask(request, group, shards, to, force, nowMillis);
    return done(nowMillis);
  }

  /**
   * Forgets a group, or that it reads a topic, with all that it has there. It is answered by {@link
   * Action.Forgotten} or {@link DispatcherAction.Refuse}.
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
    for (Group group : groups.all()) {
      group.ended(group.state().members().expire(nowMillis), out, nowMillis);
      group.plan().wake(nowMillis);
    }
    groupLeases.tick(nowMillis);
    if (nowMillis >= rebalanceAtMillis) {
      rebalanceAtMillis = nowMillis + settings.rebalanceMillis();
      rebalance(nowMillis);
    }
    return done(nowMillis);
  }

  /**
   * When {@link #wake} wants to be called, in milliseconds since 1970, if nothing else comes
   * before; {@link Long#MAX_VALUE}: not at all.
   */
  public long dueMillis() {
    return agenda.dueMillis();
  }

  /** The time of {@link #dueMillis} has come. */
  public List<DispatcherAction> wake(long nowMillis) {
    return done(nowMillis);
  }

  private void rebalance(long nowMillis) {
    view.read();
    reads.readAll();
    records.read();
    time.look(nowMillis);
    groups.removeBlank();
    for (Group group : groups.all()) {
      group.plan().retarget();
      group.state().stuck().retain(group.state().members().live());
      records.tend(group.state(), nowMillis);
      group
          .state()
          .members()
          .live()
          .forEach(member -> out.add(new DispatcherAction.Register(member)));
    }
  }

  /** Refuses what still waits: this node is no dispatcher any more. */
  public List<DispatcherAction> stop(Refusal refusal, String detail) {
    held.all().forEach(each -> out.refuse(each.request(), refusal, detail));
    resets.stop(refusal, detail);
    forgets.stop(refusal, detail);
    return out.take();
  }

  private List<DispatcherAction> done(long nowMillis) {
    writes.pump(nowMillis);
    moveWrites.pump(nowMillis);
    resets.settle(nowMillis);
    forgets.settle(nowMillis);
    return out.take();
  }

  // ---- Pushes

  /** Whether {@link #pushes()} has something to say. */
  public boolean pushesDue() {
    return assignments.pushesDue();
  }

  /**
   * Assignments for members whose shards changed. Called a moment after a change, so that many
   * changes make one push.
   */
  public List<DispatcherAction> pushes() {
    assignments.push();
    return out.take();
  }

  // ---- For those who look

  /** The number of the last assignment made. */
  public long revision() {
    return assignments.revision();
  }

  public long term() {
    return assignments.term();
  }

  public Topics topics() {
    return view.topics();
  }

  public MoveLog moves() {
    return moves;
  }

  /** A group that is declared or has members, or null. */
  public GroupState find(String name) {
    return groups.find(name);
  }

  /** All groups that {@link #find} finds, by name. */
  public List<GroupState> all() {
    return groups.found();
  }
}
