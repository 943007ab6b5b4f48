package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.Lease;

/**
 * The next step of one shard towards its target: a pure switch over who owns it.
 *
 * <pre>
 * owner     target live, other     target = owner      target not heard yet   nobody wants it
 * NONE      grant                  -                   wait                   wait
 * DEAD      grant                  -                   wait                   wait
 * UNHEARD   wait                   wait                wait                   wait
 * ALIVE     drain, past the        call off a drain    wait                   drain to anybody
 *           deadline grant
 * </pre>
 *
 * An unsettled group (with runs not heard yet) starts, redirects and ends no drain. If the group is
 * to be set to another place on the shard, nobody is its target until that is done:
 *
 * <pre>
 * owner     forced                                        not forced
 * NONE      reset                                         reset
 * DEAD      past its lock time reset                      past its lock time reset, before refuse
 * UNHEARD   wait                                          refuse
 * ALIVE     drain to anybody, past the deadline reset     refuse
 * </pre>
 */
public sealed interface ShardStep {
  /** Who holds the lease. */
  enum Owner {
    NONE,
    /** A live member's present run. */
    ALIVE,
    /** A run that this dispatcher has not heard yet, and that counts as alive for its time. */
    UNHEARD,
    /** A run that has ended. */
    DEAD;

    /** Whether somebody still owns the shard. */
    public boolean lives() {
      return this == ALIVE || this == UNHEARD;
    }
  }

  /** Nothing to do before {@code untilMillis}, unless something happens. */
  record Wait(long untilMillis) implements ShardStep {}

  /**
   * @param capped the deadline passed without a release
   */
  record GrantTo(String member, boolean capped) implements ShardStep {}

  /**
   * @param drain null: the hand-over is called off
   */
  record DrainTo(Drain drain) implements ShardStep {}

  /** The group is set to another place: whoever owns the shard is fenced. */
  record Reset() implements ShardStep {}

  /** No reset: a member owns the shard, or may come back to it. */
  record Refuse() implements ShardStep {}

  /** Clocks of dispatchers that differ by less are left as they are. */
  long CLOCKS_APART_MILLIS_MAX = 1_000;

  Wait IDLE = new Wait(Long.MAX_VALUE);

  /**
   * @param lease null if the shard has none; one that is finished takes no owner
   * @param target who is to own it, or null if nobody wants it
   * @param targetLive the target has been heard, and is not about to leave
   * @param heir the target's run, if the release may grant the shard to it; or null
   * @param settled the group has no runs that were not heard yet
   * @param lockTimeMillis cap of a hand-over that begins now
   */
  static ShardStep next(
      Lease lease,
      Owner owner,
      String target,
      boolean targetLive,
      Drain.Heir heir,
      boolean settled,
      long lockTimeMillis,
      long nowMillis) {
    return switch (owner) {
      case NONE, DEAD ->
          target != null && targetLive && (lease == null || !lease.finished())
              ? new GrantTo(target, false)
              : IDLE;
      case UNHEARD -> IDLE;
      case ALIVE ->
          !settled
              ? IDLE
              : lease.owner().equals(target)
                  ? lease.drain() == null ? IDLE : new DrainTo(null)
                  : move(lease, target, targetLive, heir, lockTimeMillis, nowMillis);
    };
  }

  /**
   * The next step of one shard that the group is to be reset on.
   *
   * @param lease null if the shard has none
   * @param force whoever owns it loses it
   * @param lockTimeMillis how long a live owner may take to let go
   * @param lockedUntilMillis until then a dead owner's release may still come
   */
  static ShardStep reset(
      Lease lease,
      Owner owner,
      boolean force,
      long lockTimeMillis,
      long lockedUntilMillis,
      long nowMillis) {
    if (owner == Owner.NONE || owner == Owner.DEAD && nowMillis >= lockedUntilMillis) {
      return new Reset();
    }
    if (!force) {
      return new Refuse();
    }
    if (owner != Owner.ALIVE) {
      return owner == Owner.DEAD ? new Wait(lockedUntilMillis) : IDLE;
    }
    String to = lease.drain() == null ? "" : lease.drain().to();
    // Nobody may own the shard between its release and the reset.
    ShardStep drain = drain(lease.drain(), to, null, lockTimeMillis, nowMillis);
    return drain == null ? new Reset() : drain;
  }

  /** What is to be done until the owner has let go to that heir, or null if its time is over. */
  private static ShardStep drain(
      Drain drain, String to, Drain.Heir heir, long lockTimeMillis, long nowMillis) {
    long latestMillis = nowMillis + lockTimeMillis;
    if (drain == null) {
      return new DrainTo(new Drain(to, latestMillis, heir));
    }
    // Nobody waits for longer than the lock time. A deadline that is further away was set by a
    // dispatcher whose clock was ahead of this one's.
    boolean tooLate = drain.deadlineMillis() > latestMillis + CLOCKS_APART_MILLIS_MAX;
    long deadlineMillis = tooLate ? latestMillis : drain.deadlineMillis();
    // A drain without an heir is as good: perhaps the log cannot have one.
    boolean another = !drain.to().equals(to) || drain.heir() != null && !drain.heir().equals(heir);
    if (tooLate || another) {
      // The deadline stays: redirecting again and again must not put it off.
      return new DrainTo(new Drain(to, deadlineMillis, heir));
    }
    return deadlineMillis <= nowMillis ? null : new Wait(deadlineMillis);
  }

  private static ShardStep move(
      Lease lease,
      String target,
      boolean targetLive,
      Drain.Heir heir,
      long lockTimeMillis,
      long nowMillis) {
    if (target != null && !targetLive) {
      return IDLE;
    }
    ShardStep drain =
        drain(lease.drain(), target == null ? "" : target, heir, lockTimeMillis, nowMillis);
    if (drain != null) {
      return drain;
    }
    return target == null ? IDLE : new GrantTo(target, true);
  }
}
