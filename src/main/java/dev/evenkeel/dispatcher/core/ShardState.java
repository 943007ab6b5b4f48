package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.Crashes;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.Skipped;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Everything that the dispatcher knows of one shard of one group. {@link GroupShards} writes the
 * lease, {@link GroupPlan} what is under way, and {@link MoveRecorder} the progress of owners.
 */
final class ShardState {
  /** How many epochs' owners are remembered. */
  static final int EPOCHS_MAX = 3;

  /**
   * A request to the log.
   *
   * @param from who owned the shard before, or null
   * @param cause null if unknown
   * @param reset that it is part of, or null
   * @param decidedOn the lease as it was known then, or null
   */
  record Request(
      DataCommand.Step command, String from, Cause cause, GroupReset reset, Lease decidedOn) {
    /** Whether the shard has another owner by this request, or by a release after it. */
    boolean leadsToGrant() {
      return command instanceof DataCommand.Grant
          || command instanceof DataCommand.SetDrain set
              && set.drain() != null
              && set.drain().heir() != null;
    }

    /** Whether it is the grant that made this lease, or the drain after which the release did. */
    boolean made(Lease lease) {
      if (command instanceof DataCommand.SetDrain set) {
        return lease.epoch() == set.expectedEpoch() + 1 && isHeir(set.drain(), lease);
      }
      // Without a lease before, the log chooses the epoch.
      return command instanceof DataCommand.Grant grant
          && (grant.expectedEpoch() == 0 || lease.epoch() == grant.expectedEpoch() + 1)
          && grant.instance().equals(lease.instance());
    }
  }

  /**
   * A hand-over that this dispatcher began or saw begin.
   *
   * @param cause null if the owner let go unasked
   * @param drainedMillis null if the owner let go unasked
   * @param releasedMillis null until the owner let go
   */
  private record Handover(String from, Cause cause, Long drainedMillis, Long releasedMillis) {}

  /** What one owner has reported of its time with the shard. Unknown is null. */
  static final class OwnerProgress {
    Long begunOffset;
    Long position;
    Long fetchedMillis;
    Long endedMillis;
  }

  final Shard shard;

  // The lease, and when it was learned: marks of GroupShards.
  private Lease lease;

  /** As it was when its epoch was first seen here. */
  private Lease atGrant;

  private long writtenAt;
  private long doubtedAt = Long.MAX_VALUE;

  /** The request that is on its way, or null. */
  Request request;

  /** A grant or a drain that got no answer, and may have been taken; or null. */
  Request unsure;

  /** The reset that is to be made, or null. */
  GroupReset reset;

  /** After a failed request, no other is sent before this time. */
  long pausedUntilMillis;

  /** When to look at the shard again if nothing happens. */
  long wakeMillis = Long.MAX_VALUE;

  /** The last epoch whose owner was asked to release the shard. */
  long askedEpoch = -1;

  /** Mode singleton: its grant waits until the elected member has the group's lease. */
  boolean waitsForLead;

  /**
   * Another run is being granted the shard of a run that was given up. Should that be heard again
   * before the log answers, its assignment does not name the shard.
   */
  boolean takenAway;

  private Handover handover;
  private final WorkMeter work = new WorkMeter();

  /** By epoch. */
  private final TreeMap<Long, OwnerProgress> progress = new TreeMap<>();

  ShardState(Shard shard) {
    this.shard = shard;
  }

  /** To whom a grant is on its way, or null. */
  String grantee() {
    return request != null && request.command() instanceof DataCommand.Grant grant
        ? grant.owner()
        : null;
  }

  // ---- The lease

  /** The lease, or null if none is known. */
  Lease lease() {
    return lease;
  }

  /** Epoch of the lease; 0 if there is none. */
  long epoch() {
    return lease == null ? 0 : lease.epoch();
  }

  /**
   * The committed offset when the present epoch was first seen here. Until the owner of that epoch
   * commits, it is what the grant found.
   */
  long committedAtGrant() {
    return atGrant == null ? -1 : atGrant.committed();
  }

  /** The crashes that the grant found, or null. */
  Crashes crashesAtGrant() {
    return atGrant == null ? null : atGrant.crashes();
  }

  /** What had been skipped when the lease was granted, or null. */
  Skipped skippedAtGrant() {
    return atGrant == null ? null : atGrant.skipped();
  }

  /** What is learned from now on is newer than what was read before {@code at}. */
  void writtenAt(long at) {
    writtenAt = at;
  }

  /** The log disagreed: a read that begins later than {@code at} is believed whatever it says. */
  void doubtedAt(long at) {
    doubtedAt = at;
  }

  /** Whether what a read that began at {@code mark} says is older than what is known. */
  boolean newerThan(long mark) {
    return writtenAt > mark;
  }

  /** Whether a read that began at {@code mark} is right whatever it says. */
  boolean believes(long mark) {
    return doubtedAt <= mark;
  }

  /** The newer of what is known and {@code other}: the higher epoch, and within one a release. */
  Lease merged(Lease other) {
    if (lease == null || other.epoch() > lease.epoch()) {
      return other;
    }
    if (other.epoch() < lease.epoch() || !lease.owned() && other.owned()) {
      return lease;
    }
    return other.committed() >= lease.committed() ? other : other.committedAt(lease.committed());
  }

  /**
   * Replaces the lease; null: there is none.
   *
   * @return whether that is news. Progress is none: it moves no shard and alters no assignment
   */
  boolean replace(Lease next) {
    Lease former = lease;
    lease = next;
    if (next == null) {
      atGrant = null;
      return former != null;
    }
    if (former == null || former.epoch() != next.epoch()) {
      atGrant = next.withoutState();
      return true;
    }
    return former.stage() != next.stage()
        || !Objects.equals(former.instance(), next.instance())
        || !Objects.equals(former.drain(), next.drain());
  }

  /** Nothing is known or under way. */
  boolean blank() {
    return lease == null && request == null && reset == null;
  }

  // ---- The hand-over

  /**
   * The log has taken a drain, or the owner has said that it leaves. A drain that redirects a
   * hand-over continues it.
   */
  void handoverBegun(String from, Cause cause, long nowMillis) {
    if (handover == null) {
      handover = new Handover(from, cause, nowMillis, null);
    }
  }

  /** The shard is released. */
  void released(long nowMillis) {
    if (handover != null && handover.releasedMillis() == null) {
      handover =
          new Handover(handover.from(), handover.cause(), handover.drainedMillis(), nowMillis);
    }
  }

  /** The owner has released the shard, asked or not. */
  void letGo(String from, long nowMillis) {
    if (handover == null) {
      handover = new Handover(from, null, null, nowMillis);
    }
  }

  /**
   * Whether the lease is the heir's: its owner before has released it, according to a drain that is
   * known, or that is on its way.
   *
   * @param before the lease as it was known before, or null
   */
  boolean inherited(Lease before) {
    if (before == null || !before.owned() || lease == null || lease.epoch() != before.epoch() + 1) {
      return false;
    }
    return isHeir(before.drain(), lease) || request != null && request.made(lease) && drains();
  }

  private boolean drains() {
    return request.command() instanceof DataCommand.SetDrain;
  }

  private static boolean isHeir(Drain drain, Lease lease) {
    return drain != null
        && drain.heir() != null
        && drain.heir().instance().equals(lease.instance());
  }

  /** The hand-over was called off, or another dispatcher ended it. */
  void handoverDropped() {
    handover = null;
  }

  /**
   * The log has taken a grant, which ends the hand-over.
   *
   * @return how long the release took, in milliseconds, or null if there was none or it is unknown
   */
  Long handoverEnded() {
    Handover ended = handover;
    handover = null;
    return ended == null || ended.drainedMillis() == null || ended.releasedMillis() == null
        ? null
        : ended.releasedMillis() - ended.drainedMillis();
  }

  /** The owner from which a grant takes the shard, or null. */
  String formerOwner() {
    if (lease != null && lease.owned()) {
      return lease.owner();
    }
    return handover == null ? null : handover.from();
  }

  /** Why the hand-over began; {@code otherwise} if there is none. */
  Cause handoverCause(Cause otherwise) {
    return handover == null || handover.cause() == null ? otherwise : handover.cause();
  }

  /** Why the shard went to the heir; {@code otherwise} if that is not known. */
  Cause inheritedCause(Cause otherwise) {
    return handover == null && request != null && drains()
        ? request.cause()
        : handoverCause(otherwise);
  }

  // ---- Progress of owners

  /** What the shard costs its owners. */
  WorkMeter work() {
    return work;
  }

  /**
   * How far the present owner says that it is: everything below is finished. Null if it has not
   * said so; never below the committed offset.
   */
  Long position() {
    OwnerProgress of = lease == null || !lease.owned() ? null : progress.get(lease.epoch());
    return of == null || of.position == null
        ? null
        : (Long) Math.max(of.position, lease.committed());
  }

  /** Of the owner at that epoch, made if need be; null if it is older than those kept. */
  OwnerProgress progress(long epoch) {
    OwnerProgress of = progress.computeIfAbsent(epoch, fresh -> new OwnerProgress());
    if (progress.size() > EPOCHS_MAX) {
      progress.pollFirstEntry();
    }
    return progress.get(epoch) == of ? of : null;
  }
}
