package dev.evenkeel.dispatcher.core;

import dev.evenkeel.assign.Assignor;
import dev.evenkeel.assign.LoadAssignor;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.BiConsumer;

/**
 * Moves the shards of one group towards their targets: one request to the log at a time for a
 * shard, and a limited number for the group. It looks only at shards that something happened to.
 *
 * <p>Members that join in a burst make one plan: it waits until none has joined for {@link
 * DispatcherSettings#joinQuietMillis}, and at most {@link DispatcherSettings#joinWaitMillisMax}
 * from the first of them. Both times are multiplied by one for each {@link #BURST_FROM} members,
 * where {@link #BURST_SHARDS} shards count as one, up to {@link #BURST_FACTOR_MAX}: a plan that is
 * made while members still come moves shards that the next one moves again.
 */
final class GroupPlan {
  private static final long NO_BURST = -1;

  /**
   * More members and shards are planned for on another thread: the assignors take up to half a
   * second for the largest groups.
   */
  static final int PLANNED_HERE_MAX = 1_000;

  private static final int BURST_FROM = 50;

  /** So many shards count as one member. */
  private static final int BURST_SHARDS = 10;

  private static final long BURST_FACTOR_MAX = 10;

  /**
   * After a plan of a large group, the next one waits for a while: a millisecond for each {@link
   * #REST_SIZE} members and shards beyond {@link #REST_FROM}. Otherwise the plans for a thousand
   * members that come back or leave one by one would take all the time of the dispatcher, which
   * then hears no heartbeats, so that more members are lost.
   */
  private static final int REST_SIZE = 3;

  private static final int REST_FROM = 300;

  private static final long REST_MILLIS_MAX = 1_000;

  private final GroupState group;
  private final DispatcherState state;
  private final LinkedHashSet<ShardState> queue = new LinkedHashSet<>();

  /** Requests on their way. */
  private int requests;

  private Targets targets = Targets.none();
  private boolean targetsOld;

  /** A plan is being made elsewhere; nothing moves until it is there. */
  private boolean planning;

  private long burstSinceMillis = NO_BURST;
  private long burstEndMillis;

  /** The next plan of a large group waits until then. */
  private long restUntilMillis;

  /** No shard has to be looked at sooner. */
  private long wakeMillis = Long.MAX_VALUE;

  /**
   * Whether the elected member may be granted shards. In other modes than singleton every member
   * may.
   */
  private boolean mayGrant;

  /** The member that needs the group's lease, by the shards looked at last; or null. */
  private Member needsLease;

  /** Takes requests to the log; while shards are looked at. */
  private BiConsumer<ShardState, DataCommand.Step> writes;

  GroupPlan(GroupState group, DispatcherState state) {
    this.group = group;
    this.state = state;
  }

  /** Who is to own which shard, by the last plan. */
  Targets targets() {
    return targets;
  }

  // ---- What happened

  /**
   * Members, topics or owners changed: a new plan is made before the next step; in a large group
   * that has just been planned, a little later.
   */
  void retarget() {
    targetsOld = true;
    state.dirty.pump(group.name());
  }

  /** Nothing is known to have changed: if a plan waits for members that join, it is enough. */
  void retargetInTime() {
    if (burstSinceMillis == NO_BURST) {
      if (group.info() != null && group.info().assignor().equals(LoadAssignor.NAME)) {
        group.changedBy(Cause.LOAD);
      }
      retarget();
    }
  }

  /**
   * A member joined. Its plan may wait a little for others that join, so that they share one plan.
   */
  void joined(long nowMillis) {
    if (burstSinceMillis == NO_BURST) {
      burstSinceMillis = nowMillis;
    }
    int shards = group.info() == null ? 0 : state.topics().shardCount(group.info().topics());
    int size = group.members().live().size() + shards / BURST_SHARDS;
    long factor = Math.max(1, Math.min(BURST_FACTOR_MAX, size / BURST_FROM));
    burstEndMillis =
        Math.min(
            nowMillis + factor * state.settings.joinQuietMillis(),
            burstSinceMillis + factor * state.settings.joinWaitMillisMax());
    state.dirty.window(group.name(), burstEndMillis);
  }

  void topicsChanged() {
    Topics topics = state.topics();
    group.departing().topicsChanged(topics);
    for (ShardState shard : group.shards().states()) {
      if (!topics.has(shard.shard)) {
        shard.takenAway = false;
        giveUpReset(shard, Refusal.UNKNOWN_SHARD, "the topic was deleted");
      }
    }
    queue.removeIf(shard -> !topics.has(shard.shard));
    group.subscriptions().changed();
    group.shards().retain(topics);
    retarget();
  }

  private void queue(ShardState shard) {
    queue.add(shard);
    state.dirty.pump(group.name());
  }

  /** Leases on these shards may be opened now. */
  void open(Collection<Shard> shards) {
    shards.forEach(shard -> queue(group.shards().state(shard)));
  }

  /** Looks at waiting shards that are due. */
  void wake(long nowMillis) {
    if (group.departing().expire(nowMillis)) {
      retarget();
    }
    if (nowMillis < wakeMillis) {
      return;
    }
    wakeMillis = Long.MAX_VALUE;
    if (group.isElection()) {
      state.dirty.pump(group.name());
    }
    group.subscriptions().lookAgain();
    for (ShardState shard : group.shards().states()) {
      if (nowMillis >= shard.wakeMillis) {
        shard.wakeMillis = Long.MAX_VALUE;
        queue(shard);
      }
      wakeMillis = Math.min(wakeMillis, shard.wakeMillis);
    }
  }

  private void wakeAt(ShardState shard, long atMillis) {
    shard.wakeMillis = atMillis;
    wakeMillis = Math.min(wakeMillis, atMillis);
  }

  /**
   * The lease of a shard has changed.
   *
   * @param before null: there was none
   * @param released whether its owner has released it if nobody owns it any more
   */
  void leaseChanged(Lease before, ShardState shard, boolean released, long nowMillis) {
    Lease after = shard.lease();
    shard.pausedUntilMillis = 0;
    queue(shard);
    boolean passedBefore = before != null && before.passed();
    boolean passedNow = after != null && after.passed();
    if (passedBefore != passedNow || passedNow && before.finished() != after.finished()) {
      // Other shards may be consumed now, or this one no longer needs an owner.
      group.replan(Cause.TOPIC);
    }
    if (after == null) {
      shard.askedEpoch = -1;
      group.subscriptions().changed();
      return;
    }
    if (before == null) {
      group.subscriptions().opened(shard.shard);
    }
    if (after.drain() != null) {
      shard.askedEpoch = after.epoch();
    }
    if (after.owned()) {
      if (before != null && after.epoch() > before.epoch() && shard.request == null) {
        // Another dispatcher granted it.
        shard.handoverDropped();
      }
      return;
    }
    shard.released(nowMillis);
    if (before != null && before.owned() && before.epoch() == after.epoch()) {
      shard.letGo(before.owner(), nowMillis);
      if (released && shard.askedEpoch != after.epoch() && !after.finished()) {
        letGoUnasked(before, shard.shard, nowMillis);
      }
    }
  }

  private void letGoUnasked(Lease before, Shard shard, long nowMillis) {
    Member member = group.members().live(before.owner());
    if (member != null && member.instance().equals(before.instance())) {
      group.changedBy(Cause.LEAVE);
      if (group.departing().letsGo(member, shard, nowMillis)) {
        retarget();
      }
    }
  }

  // ---- The plan

  /**
   * Decides for every shard that something happened to, as far as the limit allows.
   *
   * @param to takes requests to the log
   * @return who needs the group's lease at a higher term before anything else can be granted, or
   *     null. In mode singleton nothing stands in the way of that member any more
   */
  Member pump(long nowMillis, BiConsumer<ShardState, DataCommand.Step> to) {
    writes = to;
    Topics topics = state.topics();
    boolean due = targetsOld || burstSinceMillis != NO_BURST && nowMillis >= burstEndMillis;
    if (due && !planning) {
      if (nowMillis >= restUntilMillis) {
        plan(topics, nowMillis);
      } else {
        state.dirty.window(group.name(), restUntilMillis);
      }
    }
    if (planning) {
      // The answer looks whether another plan is due.
      state.dirty.windowOver(group.name());
      return null;
    }
    if (group.isElection()) {
      Member successor = group.leading().successor(nowMillis);
      wakeMillis = Math.min(wakeMillis, group.leading().handoverEndMillis());
      return successor;
    }
    Member elected = group.leading().electedMember();
    needsLease = null;
    mayGrant = !group.leading().applies() || group.leading().mayBeGranted(elected, topics);
    Iterator<ShardState> next = queue.iterator();
    while (requests < DispatcherSettings.WRITES_IN_FLIGHT_MAX && next.hasNext()) {
      ShardState shard = next.next();
      next.remove();
      // One with a request on its way comes back into the queue with the answer.
      if (shard.request == null && topics.has(shard.shard) && group.info() != null) {
        advance(shard, nowMillis);
      }
    }
    boolean leads =
        elected != null && !mayGrant && !group.leading().givesBackToReset(elected, topics);
    return needsLease == null
            && leads
            && !targets.owners().isEmpty()
            && group.leading().nobodyElseOwns(elected, topics, nowMillis)
        ? elected
        : needsLease;
  }

  private int size() {
    return group.members().live().size() + targets.owners().size();
  }

  /** Whether it has so many members and shards that each push and plan takes long. */
  boolean isLarge() {
    return size() > REST_FROM;
  }

  private void plan(Topics topics, long nowMillis) {
    targetsOld = false;
    burstSinceMillis = NO_BURST;
    state.dirty.windowOver(group.name());
    if (group.leading().applies()) {
      group.leading().elect();
      group.leadChanged();
    }
    Targets.Draft draft = Targets.draft(group, topics);
    Assignor assignor = state.assignor(group.assignorName());
    if (draft.size() <= PLANNED_HERE_MAX) {
      use(draft.with(draft.plan(assignor), group, topics), nowMillis);
      return;
    }
    planning = true;
    state.out.ask(
        id -> new DispatcherAction.PlanShards(id, group.name(), draft, assignor),
        (planned, now) -> planned(draft, planned, now));
  }

  private void planned(Targets.Draft draft, List<Map<Shard, String>> planned, long nowMillis) {
    planning = false;
    if (!state.has(group)) {
      return;
    }
    if (planned != null) {
      use(draft.with(planned, group, state.topics()), nowMillis);
      state.dirty.pump(group.name());
    } else {
      targetsOld = true;
      restUntilMillis = nowMillis + state.settings.retryMillis();
      state.dirty.window(group.name(), restUntilMillis);
    }
  }

  /** The plan is made. */
  private void use(Targets plan, long nowMillis) {
    targets = plan;
    restUntilMillis =
        nowMillis + Math.min(REST_MILLIS_MAX, Math.max(0, size() - REST_FROM) / REST_SIZE);
    targets
        .taken()
        .forEach(
            (shard, epoch) -> {
              // The plan may have been made a while ago.
              Lease lease = group.shards().get(shard);
              if (lease != null && lease.epoch() == epoch) {
                group.stuck().taken(lease.instance(), nowMillis);
              }
            });
    group.subscriptions().missing().keySet().forEach(s -> queue.add(group.shards().state(s)));
    new TreeSet<>(targets.owners().keySet()).forEach(s -> queue.add(group.shards().state(s)));
    for (ShardState shard : group.shards().states()) {
      shard.waitsForLead = false;
      if (shard.lease() != null) {
        queue.add(shard);
      }
    }
  }

  // ---- One step of a shard

  private void advance(ShardState shard, long nowMillis) {
    shard.waitsForLead = false;
    if (nowMillis < shard.pausedUntilMillis) {
      wakeAt(shard, shard.pausedUntilMillis);
      return;
    }
    shard.pausedUntilMillis = 0;
    if (shard.lease() == null && group.subscriptions().opens()) {
      open(shard, nowMillis);
      return;
    }
    ShardStep step = shard.reset == null ? null : resetStep(shard, nowMillis);
    if (step == null) {
      step = step(shard, nowMillis);
    }
    Lease lease = shard.lease();
    if (step instanceof ShardStep.Wait wait) {
      wakeAt(shard, wait.untilMillis());
    } else if (step instanceof ShardStep.DrainTo to) {
      Cause cause = shard.reset == null ? group.cause() : Cause.RESET;
      Drain drain = to.drain();
      DataCommand.Step command =
          new DataCommand.SetDrain(group.name(), shard.shard, lease.epoch(), drain);
      send(shard, command, lease.owner(), cause);
    } else if (step instanceof ShardStep.GrantTo to) {
      grant(shard, to, nowMillis);
    } else if (step instanceof ShardStep.Reset) {
      DataCommand.Step command =
          new DataCommand.ResetLease(group.name(), shard.shard, shard.epoch(), shard.reset.to);
      send(shard, command, lease == null ? null : lease.owner(), Cause.RESET);
    } else {
      throw new AssertionError(step);
    }
  }

  /** The lease comes first. One that has none and is not missing is not read. */
  private void open(ShardState shard, long nowMillis) {
    Subscriptions subscriptions = group.subscriptions();
    StartAt start = subscriptions.opensAt(shard.shard);
    if (start != null) {
      send(shard, new DataCommand.OpenLease(group.name(), shard.shard, start), null, null);
    } else if (subscriptions.missing().containsKey(shard.shard)) {
      wakeAt(shard, nowMillis + state.settings.retryMillis());
    } else if (subscriptions.isSeen()) {
      giveUpReset(shard, Refusal.UNKNOWN_SHARD, "the group does not read the topic");
    }
  }

  /**
   * The next step of a shard that is being reset, and so has no target. Null: the reset was
   * refused.
   */
  private ShardStep resetStep(ShardState shard, long nowMillis) {
    Lease lease = shard.lease();
    ShardStep step =
        ShardStep.reset(
            lease,
            owner(lease),
            shard.reset.force,
            lockTimeMillis(lease),
            group.lockedUntilMillis(lease),
            nowMillis);
    if (step instanceof ShardStep.Refuse) {
      giveUpReset(shard, Refusal.GROUP_ACTIVE, "'" + lease.owner() + "' has come to own it");
      return null;
    }
    return step;
  }

  private ShardStep step(ShardState shard, long nowMillis) {
    Lease lease = shard.lease();
    if (shard.takenAway && lease != null && lease.owned()) {
      group.assignmentChanged(lease.owner());
    }
    shard.takenAway = false;
    ShardStep.Owner owner = owner(lease);
    long lockedMillis = group.lockedUntilMillis(lease);
    if (nowMillis < lockedMillis) {
      return new ShardStep.Wait(lockedMillis);
    }
    if (owner == ShardStep.Owner.ALIVE && lease.drain() == null) {
      long untilMillis = group.departing().unaskedUntilMillis(group.live(lease.owner()), nowMillis);
      if (nowMillis < untilMillis) {
        shard.handoverBegun(lease.owner(), Cause.LEAVE, nowMillis);
        return new ShardStep.Wait(untilMillis);
      }
    }
    String target = group.target(shard.shard);
    Member next = target == null ? null : group.live(target);
    // To the log, an owner that was asked for the shard has not died of a message.
    Cause ending = owner == ShardStep.Owner.DEAD ? state.endings.of(lease.instance()) : null;
    if (ending == Cause.EXPIRED && lease.drain() != null) {
      return new ShardStep.DrainTo(null);
    }
    if (ending == Cause.LEAVE && lease.drain() == null && next != null) {
      return new ShardStep.DrainTo(new Drain(target, nowMillis));
    }
    return ShardStep.next(
        lease,
        owner,
        target,
        stays(next, shard.shard),
        heir(lease, next),
        group.settled(),
        lockTimeMillis(lease),
        nowMillis);
  }

  /**
   * The run that gets the shard with the release itself, without another request; null: a grant
   * must name a term of the group's lease, or there is no such run.
   */
  private Drain.Heir heir(Lease lease, Member next) {
    boolean ofTerm = lease == null || lease.groupTerm() > 0 || group.grantTerm() > 0;
    return next == null || ofTerm || group.ownedAsAWhole() || group.leading().applies()
        ? null
        : new Drain.Heir(next.instance(), next.beat().memberTimeoutMillis());
  }

  /** How long the owner of a lease may take to release the shard. */
  private long lockTimeMillis(Lease lease) {
    return owner(lease) == ShardStep.Owner.ALIVE
        ? group.live(lease.owner()).beat().lockTimeMillis()
        : 0;
  }

  private void grant(ShardState shard, ShardStep.GrantTo grant, long nowMillis) {
    Lease lease = shard.lease();
    Member member = group.live(grant.member());
    if (!mayGrant) {
      shard.waitsForLead = true;
    } else if (lease != null && lease.groupTerm() > group.grantTerm()) {
      // What is known of the group's lease is old, or the lease is of before the group was
      // forgotten. The meta log answers with the lease or a higher term; that makes a new plan.
      if (needsLease == null && !group.ownedAsAWhole()) {
        needsLease = member;
      }
      wakeAt(shard, nowMillis + state.settings.retryMillis());
    } else {
      shard.takenAway = owner(lease) == ShardStep.Owner.DEAD;
      DataCommand.Step command =
          new DataCommand.Grant(
              group.name(),
              shard.shard,
              member.name(),
              member.instance(),
              shard.epoch(),
              start(shard.shard),
              // Whoever had the whole group before may not grant again.
              group.grantTerm(),
              member.beat().memberTimeoutMillis());
      send(shard, command, shard.formerOwner(), grantCause(shard, grant));
    }
  }

  /**
   * Where the group begins in a shard that it has no lease on. One that has taken the place of
   * shards which the group read before begins with its first message.
   */
  private StartAt start(Shard shard) {
    Long openedMillis = state.topics().openedMillis(shard);
    boolean newer = openedMillis != null && group.info().createdMillis() <= openedMillis;
    return newer ? StartAt.EARLIEST : group.info().start();
  }

  /** A member that is stuck and loses the shard counts as dead for it: the epoch fences it. */
  ShardStep.Owner owner(Lease lease) {
    return isTaken(lease) || group.leading().outOfTerm(lease)
        ? ShardStep.Owner.DEAD
        : group.owner(lease);
  }

  private boolean isTaken(Lease lease) {
    return lease != null
        && lease.owned()
        && targets.taken().getOrDefault(lease.shard(), -1L) == lease.epoch();
  }

  /**
   * Whether a target still wants the shard. The plan may be older than the heartbeat in which the
   * member begins to leave or drops the topic. No member is granted what it has just released.
   */
  private boolean stays(Member target, Shard shard) {
    return target != null
        && !group.departing().include(target)
        && target.topics().contains(state.topics().name(shard.topicId()));
  }

  private Cause grantCause(ShardState shard, ShardStep.GrantTo grant) {
    Lease lease = shard.lease();
    if (grant.capped()) {
      return Cause.CAP;
    }
    if (isTaken(lease)) {
      return Cause.STUCK;
    }
    Cause ending = lease == null || !lease.owned() ? null : state.endings.of(lease.instance());
    if (ending != null) {
      return ending;
    }
    Cause handover = shard.handoverCause(group.cause());
    // Why a member let go says nothing of why it gets the shard again, unless a reset asked it to.
    boolean back = grant.member().equals(shard.formerOwner()) && handover != Cause.RESET;
    return back ? group.cause() : handover;
  }

  // ---- Requests and their answers

  private void send(ShardState shard, DataCommand.Step command, String from, Cause cause) {
    shard.wakeMillis = Long.MAX_VALUE;
    shard.request = new ShardState.Request(command, from, cause, shard.reset, shard.lease());
    requests++;
    writes.accept(shard, command);
  }

  private ShardState.Request answered(ShardState shard) {
    ShardState.Request request = shard.request;
    shard.request = null;
    requests--;
    queue(shard);
    return request;
  }

  /**
   * The log has taken the request; {@code lease} is the result.
   *
   * @return of a grant, how long the release before it took, in milliseconds; null if there was
   *     none or it is unknown
   */
  Long taken(ShardState shard, Lease lease, long nowMillis) {
    ShardState.Request request = answered(shard);
    if (shard.takenAway && lease.owned()) {
      // A broker's hint may have come before: then no assignment named it yet.
      group.assignmentChanged(lease.owner());
    }
    shard.takenAway = false;
    if (request.command() instanceof DataCommand.OpenLease) {
      return null;
    }
    if (request.command() instanceof DataCommand.ResetLease) {
      if (shard.reset == request.reset()) {
        shard.reset = null;
      }
      request.reset().done(shard.shard, lease);
      shard.letGo(request.from(), nowMillis);
      retarget();
      return null;
    }
    if (request.command() instanceof DataCommand.SetDrain drain) {
      if (lease.epoch() < shard.epoch()) {
        // The owner has released the shard meanwhile, and the next one has it.
        return null;
      }
      if (drain.drain() == null) {
        shard.handoverDropped();
      } else {
        shard.handoverBegun(request.from(), request.cause(), nowMillis);
      }
      return null;
    }
    return shard.handoverEnded();
  }

  /**
   * The request was refused, or its result is unknown. The plan decides again after a pause or a
   * read of the lease. A grant may have been taken nevertheless.
   *
   * @param refused null if nobody knows
   */
  void failed(ShardState shard, Reply.Refused refused, long nowMillis) {
    ShardState.Request request = answered(shard);
    shard.pausedUntilMillis = nowMillis + state.settings.retryMillis();
    if (request.leadsToGrant()) {
      shard.unsure = request;
    }
    boolean forGood =
        refused != null
            && !refused.refusal().retriable()
            && refused.refusal() != Refusal.FENCED
            && request.command() instanceof DataCommand.ResetLease;
    if (forGood && shard.reset == request.reset()) {
      giveUpReset(shard, refused.refusal(), refused.detail());
    }
  }

  /** Whether a grant of the shard is on its way. */
  boolean grants(ShardState shard) {
    return shard.request != null && shard.request.command() instanceof DataCommand.Grant;
  }

  // ---- Resets

  /** Whether a reset of one of those shards is under way. */
  boolean resets(Collection<Shard> shards) {
    return shards.stream().anyMatch(shard -> group.shards().state(shard).reset != null);
  }

  void reset(GroupReset reset) {
    for (Shard each : reset.leases().keySet()) {
      ShardState shard = group.shards().state(each);
      shard.reset = reset;
      queue(shard);
    }
    retarget();
  }

  /** Cancels the rest of the reset. Owners that were asked to release a shard for it keep it. */
  void giveUp(GroupReset reset) {
    for (ShardState shard : group.shards().states()) {
      if (shard.reset == reset) {
        shard.reset = null;
      }
    }
    retarget();
  }

  private void giveUpReset(ShardState shard, Refusal refusal, String detail) {
    if (shard.reset != null) {
      shard.reset.refused(shard.shard, refusal, detail);
      shard.reset = null;
      retarget();
    }
  }
}
