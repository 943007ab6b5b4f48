package dev.evenkeel.dispatcher.core;

import dev.evenkeel.assign.Assignor;
import dev.evenkeel.assign.Election;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Moves the shards of one group towards their targets: one request to the log at a time for a
 * shard, and a limited number for the group. Only shards that something happened to are looked at.
 */
final class GroupPlan {
  /**
   * A request on its way.
   *
   * @param wish that it fulfils, or null
   */
  private record InFlight(DataCommand command, String from, Cause cause, ShardResets.Wish wish) {}

  private final GroupState group;
  private final Function<String, Assignor> assignors;
  private final DispatcherSettings settings;
  private final DirtyGroups agenda;
  private final JoinWindow window;
  private final LinkedHashSet<Shard> queue = new LinkedHashSet<>();
  private final Map<Shard, InFlight> inFlight = new HashMap<>();
  private final Map<Shard, Long> pausedUntil = new HashMap<>();
  private final Handovers handovers = new Handovers();
  private final Map<Shard, Long> askedEpoch = new HashMap<>();
  private final WakeTimes wakeTimes = new WakeTimes();

  /** Epochs of shards that are taken from members that are stuck. */
  private Map<Shard, Long> taken = Map.of();

  /** Mode singleton: shards whose grant waits until the elected member has the group's lease. */
  private final Set<Shard> heldBack = new HashSet<>();

  /** Whether it may be granted shards; in other modes everybody always may. */
  private boolean mayGrant;

  private boolean targetsOld;

  GroupPlan(
      GroupState group,
      Function<String, Assignor> assignors,
      DispatcherSettings settings,
      DirtyGroups agenda) {
    this.group = group;
    this.assignors = assignors;
    this.settings = settings;
    this.agenda = agenda;
    window = new JoinWindow(settings.joinQuietMillis(), settings.joinWaitMillisMax());
  }

  /** Members, topics or owners changed: before the next step, the plan is made anew. */
  void retarget() {
    targetsOld = true;
    agenda.pump(group.name());
  }

  /** Somebody came, who may wait a little for others that come: they make one plan. */
  void collect(long nowMillis) {
    window.joined(nowMillis);
    agenda.window(group.name(), window.endMillis());
  }

  void topicsChanged(Topics topics) {
    group.leavers().topicsChanged(topics);
    group.takenAway.removeIf(shard -> !topics.has(shard));
    group.resets().topicsChanged(topics);
    retarget();
  }

  private void queue(Shard shard) {
    queue.add(shard);
    agenda.pump(group.name());
  }

  private void queueAll() {
    queue.addAll(new TreeSet<>(group.target.keySet()));
    group.book().all().forEach(lease -> queue.add(lease.shard()));
  }

  /** Time went by: looks at waiting shards that are due. */
  void wake(long nowMillis) {
    if (group.leavers().expire(nowMillis)) {
      retarget();
    }
    wakeTimes.takeDue(nowMillis).forEach(this::queue);
  }

  /** The book holds something new about a shard. */
  void leaseChanged(Lease before, Lease after, Shard shard, long nowMillis) {
    pausedUntil.remove(shard);
    queue(shard);
    if (after == null) {
      askedEpoch.remove(shard);
      return;
    }
    if (after.drain() != null) {
      askedEpoch.put(shard, after.epoch());
    }
    if (after.owned()) {
      if (before != null && after.epoch() > before.epoch() && !inFlight.containsKey(shard)) {
        // Another dispatcher granted it.
        handovers.dropped(shard);
      }
      return;
    }
    handovers.released(shard, nowMillis);
    if (before != null && before.owned() && before.epoch() == after.epoch()) {
      handovers.letGo(shard, before.owner(), nowMillis);
    }
    if (before != null
        && before.owned()
        && before.epoch() == after.epoch()
        && askedEpoch.getOrDefault(shard, -1L) != after.epoch()) {
      letGoUnasked(before, shard, nowMillis);
    }
  }

  private void letGoUnasked(Lease before, Shard shard, long nowMillis) {
    Member member = group.members().live(before.owner());
    if (member != null && member.instance().equals(before.instance())) {
      group.cause = Cause.LEAVE;
      if (group.leavers().letsGo(member, shard, nowMillis)) {
        retarget();
      }
    }
  }

  /** Decides for every shard that something happened to, as far as the limit allows. */
  void pump(Topics topics, long nowMillis, WriteSink sink) {
    if (targetsOld || window.over(nowMillis)) {
      plan(topics, nowMillis);
    }
    Member elected = elected();
    mayGrant = !group.leading().applies() || group.leading().mayBeGranted(elected, topics);
    Iterator<Shard> next = queue.iterator();
    while (inFlight.size() < settings.writesInFlightMax() && next.hasNext()) {
      Shard shard = next.next();
      next.remove();
      // What is in flight comes back into the queue with its answer.
      if (!inFlight.containsKey(shard) && topics.has(shard) && group.info != null) {
        step(shard, topics, nowMillis, sink);
      }
    }
    boolean needsTerm =
        elected != null && !mayGrant && !group.leading().givesBackToReset(elected, topics);
    if (needsTerm && !group.target.isEmpty() && onlyHeldBack(topics, elected)) {
      sink.lead(elected);
    }
  }

  /** Mode singleton: who shall lead and has been heard, or null. */
  private Member elected() {
    Election.Candidate elected = group.leading().elected();
    Member member = elected == null ? null : group.members().live(elected.name());
    return member != null && group.leading().elected(member) ? member : null;
  }

  /** Whether every shard is the elected member's, or waits for it alone: nobody else holds any. */
  private boolean onlyHeldBack(Topics topics, Member elected) {
    for (Shard shard : group.target.keySet()) {
      Lease lease = group.book().get(shard);
      boolean has = lease != null && elected.instance().equals(lease.instance());
      if (topics.has(shard) && !has && !heldBack.contains(shard)) {
        return false;
      }
    }
    for (Lease lease : group.book().all()) {
      ShardStep.Owner owner = owner(lease);
      boolean held = owner == ShardStep.Owner.ALIVE || owner == ShardStep.Owner.UNHEARD;
      if (held
          && topics.has(lease.shard())
          && !heldBack.contains(lease.shard())
          && !lease.instance().equals(elected.instance())) {
        return false;
      }
    }
    return true;
  }

  private void plan(Topics topics, long nowMillis) {
    targetsOld = false;
    window.close();
    agenda.windowOver(group.name());
    heldBack.clear();
    if (group.leading().applies()) {
      group.leading().elect();
    }
    Targets plan = Targets.of(group, topics, assignor());
    group.target = plan.owners();
    taken = plan.taken();
    for (Shard shard : taken.keySet()) {
      group.stuck().taken(group.book().get(shard).instance(), nowMillis);
    }
    queueAll();
  }

  private Assignor assignor() {
    String name = group.info == null ? GroupInfo.ASSIGNOR_DEFAULT : group.info.assignor();
    Assignor assignor = assignors.apply(name);
    // The group may have been made on a node that has more of them.
    return assignor == null ? assignors.apply(GroupInfo.ASSIGNOR_DEFAULT) : assignor;
  }

  private void step(Shard shard, Topics topics, long nowMillis, WriteSink sink) {
    heldBack.remove(shard);
    Long pausedTo = pausedUntil.get(shard);
    if (pausedTo != null && nowMillis < pausedTo) {
      wakeTimes.set(shard, pausedTo);
      return;
    }
    pausedUntil.remove(shard);
    Lease lease = group.book().get(shard);
    ShardResets.Wish wish = group.resets().get(shard);
    if (wish != null && resetStep(shard, lease, wish, nowMillis, sink)) {
      return;
    }
    if (group.takenAway.remove(shard) && lease != null && lease.owned()) {
      group.assignmentChanged(lease.owner());
    }
    ShardStep.Owner owner = owner(lease);
    long lockedMillis = group.lockedUntilMillis(lease);
    if (nowMillis < lockedMillis) {
      wakeTimes.set(shard, lockedMillis);
      return;
    }
    if (owner == ShardStep.Owner.ALIVE && lease.drain() == null) {
      long untilMillis = group.leavers().unaskedUntilMillis(group.live(lease.owner()), nowMillis);
      if (nowMillis < untilMillis) {
        handovers.begun(shard, lease.owner(), Cause.LEAVE, nowMillis);
        wakeTimes.set(shard, untilMillis);
        return;
      }
    }
    String target = group.target(shard);
    Member targetMember = target == null ? null : group.live(target);
    long lockTimeMillis =
        owner == ShardStep.Owner.ALIVE ? group.live(lease.owner()).beat().lockTimeMillis() : 0;
    ShardStep step =
        ShardStep.next(
            lease,
            owner,
            target,
            stays(targetMember, shard, topics),
            group.settled(),
            lockTimeMillis,
            nowMillis);
    long epoch = lease == null ? 0 : lease.epoch();
    if (step instanceof ShardStep.Wait wait) {
      wakeTimes.set(shard, wait.untilMillis());
    } else if (step instanceof ShardStep.DrainTo drain) {
      send(
          new DataCommand.SetDrain(group.name(), shard, epoch, drain.drain()),
          shard,
          lease.owner(),
          group.cause,
          sink);
    } else if (step instanceof ShardStep.GrantTo && !mayGrant) {
      heldBack.add(shard);
    } else if (lease != null && lease.groupTerm() > group.grantTerm()) {
      // What is known of the group's lease is old, or the lease is of before the group was
      // forgotten. The meta log tells, or gives a higher term; that makes a new plan.
      if (!group.heldAsAWhole()) {
        sink.lead(targetMember);
      }
      wakeTimes.set(shard, nowMillis + settings.retryMillis());
    } else if (step instanceof ShardStep.GrantTo grant) {
      if (owner == ShardStep.Owner.DEAD) {
        group.takenAway.add(shard);
      }
      send(
          new DataCommand.Grant(
              group.name(),
              shard,
              grant.member(),
              targetMember.instance(),
              epoch,
              group.info.start(),
              // Whoever had the whole group before may not grant again.
              group.grantTerm(),
              targetMember.beat().memberTimeoutMillis()),
          shard,
          handovers.formerOwner(shard, lease),
          grantCause(shard, lease, grant.capped()),
          sink);
    }
  }

  /**
   * While a shard is being reset it is nobody's target.
   *
   * @return whether it is; else that was refused
   */
  private boolean resetStep(
      Shard shard, Lease lease, ShardResets.Wish wish, long nowMillis, WriteSink sink) {
    ShardStep.Owner owner = owner(lease);
    long lockTimeMillis =
        owner == ShardStep.Owner.ALIVE ? group.live(lease.owner()).beat().lockTimeMillis() : 0;
    ResetStep step =
        ResetStep.next(
            lease, owner, wish.force(), lockTimeMillis, group.lockedUntilMillis(lease), nowMillis);
    long epoch = lease == null ? 0 : lease.epoch();
    if (step instanceof ResetStep.Wait wait) {
      wakeTimes.set(shard, wait.untilMillis());
    } else if (step instanceof ResetStep.DrainIt drain) {
      send(
          new DataCommand.SetDrain(group.name(), shard, epoch, drain.drain()),
          shard,
          lease.owner(),
          Cause.RESET,
          sink);
    } else if (step instanceof ResetStep.Reset) {
      send(
          new DataCommand.ResetLease(group.name(), shard, epoch, wish.to()),
          shard,
          lease == null ? null : lease.owner(),
          Cause.RESET,
          sink);
    } else {
      group
          .resets()
          .refused(shard, wish, Refusal.GROUP_ACTIVE, "'" + lease.owner() + "' has come to own it");
      return false;
    }
    return true;
  }

  /** Who is stuck and loses the shard is like dead for it: the epoch fences it. */
  private ShardStep.Owner owner(Lease lease) {
    return isTaken(lease) || group.leading().outOfTerm(lease)
        ? ShardStep.Owner.DEAD
        : group.owner(lease);
  }

  private boolean isTaken(Lease lease) {
    return lease != null
        && lease.owned()
        && taken.getOrDefault(lease.shard(), -1L) == lease.epoch();
  }

  /**
   * Whether a target is still one: a plan may be older than the first sign of its leaving, or than
   * its word that it reads the topic no more. Nobody is granted what it just let go.
   */
  private boolean stays(Member target, Shard shard, Topics topics) {
    return target != null
        && !group.leavers().include(target)
        && target.beat().topics().contains(topics.name(shard.topicId()));
  }

  private Cause grantCause(Shard shard, Lease lease, boolean capped) {
    if (capped) {
      return Cause.CAP;
    }
    if (isTaken(lease)) {
      return Cause.STUCK;
    }
    Cause ending = lease == null || !lease.owned() ? null : group.ending(lease.instance());
    return ending != null ? ending : handovers.cause(shard, group.cause);
  }

  private void send(DataCommand command, Shard shard, String from, Cause cause, WriteSink sink) {
    wakeTimes.remove(shard);
    inFlight.put(shard, new InFlight(command, from, cause, group.resets().get(shard)));
    sink.write(shard, command);
  }

  /** Where requests to the log go. */
  interface WriteSink {
    void write(Shard shard, DataCommand command);

    /**
     * The group needs a higher term. In mode singleton, nothing stands in the way of this member
     * any more.
     */
    void lead(Member elected);
  }

  /**
   * A request was taken.
   *
   * @return the move that it made, or null
   */
  Move taken(Shard shard, Lease lease, Topics topics, long nowMillis) {
    InFlight request = inFlight.remove(shard);
    if (group.takenAway.remove(shard) && lease.owned()) {
      // A broker's hint may have come before: then nobody was told yet.
      group.assignmentChanged(lease.owner());
    }
    queue(shard);
    if (request.command() instanceof DataCommand.ResetLease) {
      group.resets().done(shard, request.wish(), lease);
      handovers.letGo(shard, request.from(), nowMillis);
      retarget();
      return null;
    }
    if (request.command() instanceof DataCommand.SetDrain drain) {
      if (drain.drain() == null) {
        handovers.dropped(shard);
      } else {
        handovers.begun(shard, request.from(), request.cause(), nowMillis);
      }
      return null;
    }
    Long releaseMillis = handovers.ended(shard);
    String topic = topics.name(shard.topicId());
    if (topic == null) {
      // It was deleted meanwhile: nobody asks how its shards moved.
      return null;
    }
    return new Move(
        nowMillis,
        group.name(),
        topic,
        shard.shard(),
        request.from(),
        lease.owner(),
        request.cause(),
        releaseMillis,
        lease.epoch(),
        lease.committed(),
        null,
        null);
  }

  /** A request was refused, and would be again: if it was a reset it is given up. */
  void refused(Shard shard, Reply.Refused refused) {
    InFlight request = inFlight.get(shard);
    if (request != null && request.command() instanceof DataCommand.ResetLease) {
      group.resets().refused(shard, request.wish(), refused.refusal(), refused.detail());
    }
  }

  /**
   * A request was refused, or nobody knows: after a pause, or what a read tells, it is decided
   * anew.
   *
   * @return the grant that it was, or null: it may have been taken all the same
   */
  MissedMoves.Unsure failed(Shard shard, long nowMillis) {
    InFlight request = inFlight.remove(shard);
    pausedUntil.put(shard, nowMillis + settings.retryMillis());
    queue(shard);
    return request.command() instanceof DataCommand.Grant grant
        ? new MissedMoves.Unsure(grant, request.from(), request.cause())
        : null;
  }

  /** Whether a grant of the shard is on its way. */
  boolean grants(Shard shard) {
    InFlight request = inFlight.get(shard);
    return request != null && request.command() instanceof DataCommand.Grant;
  }
}
