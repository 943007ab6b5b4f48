package dev.evenkeel.dispatcher.core;

import dev.evenkeel.assign.Assignor;
import dev.evenkeel.model.DataCommand;
import dev.evenkeel.model.Lease;
import dev.evenkeel.model.Shard;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.TreeSet;

/**
 * Moves the shards of one group towards their targets: one request to the log at a time for a
 * shard, and a limited number for the group. Only shards that something happened to are looked at.
 */
final class GroupPlan {
  /** A request on its way. */
  private record InFlight(DataCommand command, String from, Cause cause) {}

  private final GroupState group;
  private final Assignor assignor;
  private final DispatcherSettings settings;
  private final LinkedHashSet<Shard> queue = new LinkedHashSet<>();
  private final Map<Shard, InFlight> inFlight = new HashMap<>();
  private final Map<Shard, Long> pausedUntil = new HashMap<>();
  private final Handovers handovers = new Handovers();
  private final Leavers leavers = new Leavers();
  private final Map<Shard, Long> askedEpoch = new HashMap<>();
  private long wakeAtMillis = Long.MAX_VALUE;
  private boolean targetsOld;

  GroupPlan(GroupState group, Assignor assignor, DispatcherSettings settings) {
    this.group = group;
    this.assignor = assignor;
    this.settings = settings;
  }

  /** Members, topics or owners changed: before the next step, the plan is made anew. */
  void retarget() {
    targetsOld = true;
  }

  void topicsChanged(Topics topics) {
    leavers.topicsChanged(topics);
    group.takenAway.removeIf(shard -> !topics.has(shard));
    targetsOld = true;
  }

  private void queueAll() {
    wakeAtMillis = Long.MAX_VALUE;
    queue.addAll(new TreeSet<>(group.target.keySet()));
    group.book().all().forEach(lease -> queue.add(lease.shard()));
  }

  /** Time went by: looks at waiting shards when one is due. */
  void wake(long nowMillis) {
    targetsOld |= leavers.expire(nowMillis);
    if (nowMillis >= wakeAtMillis) {
      queueAll();
    }
  }

  /** The book holds something new about a shard. */
  void leaseChanged(Lease before, Lease after, Shard shard, long nowMillis) {
    pausedUntil.remove(shard);
    queue.add(shard);
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
      targetsOld |= leavers.letsGo(member, shard, nowMillis);
    }
  }

  /** Decides for every shard that something happened to, as far as the limit allows. */
  void pump(Topics topics, long nowMillis, WriteSink sink) {
    if (targetsOld) {
      targetsOld = false;
      group.target = Targets.of(group, leavers, topics, assignor);
      queueAll();
    }
    Iterator<Shard> next = queue.iterator();
    while (inFlight.size() < settings.writesInFlightMax() && next.hasNext()) {
      Shard shard = next.next();
      next.remove();
      // What is in flight comes back into the queue with its answer.
      if (!inFlight.containsKey(shard) && topics.has(shard) && group.info != null) {
        step(shard, nowMillis, sink);
      }
    }
  }

  private void step(Shard shard, long nowMillis, WriteSink sink) {
    Long pausedTo = pausedUntil.get(shard);
    if (pausedTo != null && nowMillis < pausedTo) {
      wakeAtMillis = Math.min(wakeAtMillis, pausedTo);
      return;
    }
    pausedUntil.remove(shard);
    Lease lease = group.book().get(shard);
    if (group.takenAway.remove(shard) && lease != null && lease.owned()) {
      group.assignmentChanged(lease.owner());
    }
    ShardStep.Owner owner = group.owner(lease);
    String target = group.target(shard);
    Member targetMember = target == null ? null : group.members().live(target);
    long lockTimeMillis =
        owner == ShardStep.Owner.ALIVE
            ? group.members().live(lease.owner()).beat().lockTimeMillis()
            : 0;
    // A plan may be older than the first sign of leaving: nobody is granted what it just let go.
    boolean targetStays = targetMember != null && !leavers.include(targetMember);
    ShardStep step =
        ShardStep.next(
            lease, owner, target, targetStays, group.settled(), lockTimeMillis, nowMillis);
    long epoch = lease == null ? 0 : lease.epoch();
    if (step instanceof ShardStep.Wait wait) {
      wakeAtMillis = Math.min(wakeAtMillis, wait.untilMillis());
    } else if (step instanceof ShardStep.DrainTo drain) {
      send(
          new DataCommand.SetDrain(group.name(), shard, epoch, drain.drain()),
          shard,
          lease.owner(),
          group.cause,
          sink);
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
              group.info.start()),
          shard,
          handovers.formerOwner(shard, lease),
          grantCause(shard, lease, grant.capped()),
          sink);
    }
  }

  private Cause grantCause(Shard shard, Lease lease, boolean capped) {
    if (capped) {
      return Cause.CAP;
    }
    Cause ending = lease == null || !lease.owned() ? null : group.ending(lease.instance());
    return ending != null ? ending : handovers.cause(shard, group.cause);
  }

  private void send(DataCommand command, Shard shard, String from, Cause cause, WriteSink sink) {
    inFlight.put(shard, new InFlight(command, from, cause));
    sink.write(shard, command);
  }

  /** Where requests to the log go. */
  interface WriteSink {
    void write(Shard shard, DataCommand command);
  }

  /**
   * A request was taken.
   *
   * @return the move that it made, or null
   */
  Move taken(Shard shard, Lease lease, Topics topics, long nowMillis) {
    InFlight request = inFlight.remove(shard);
    group.takenAway.remove(shard);
    queue.add(shard);
    if (request.command() instanceof DataCommand.SetDrain drain) {
      if (drain.drain() == null) {
        handovers.dropped(shard);
      } else {
        handovers.begun(shard, request.from(), request.cause(), nowMillis);
      }
      return null;
    }
    Long releaseMillis = handovers.ended(shard);
    return new Move(
        nowMillis,
        group.name(),
        topics.name(shard.topicId()),
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

  /**
   * A request was refused, or nobody knows: after a pause, or what a read tells, it is decided
   * anew.
   */
  void failed(Shard shard, long nowMillis) {
    inFlight.remove(shard);
    pausedUntil.put(shard, nowMillis + settings.retryMillis());
    queue.add(shard);
  }
}
