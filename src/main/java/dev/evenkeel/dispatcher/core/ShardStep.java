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
 * An unsettled group (with runs not heard yet) starts, redirects and ends no drain.
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
    DEAD
  }

  /** Nothing to do before {@code untilMillis}, unless something happens. */
  record Wait(long untilMillis) implements ShardStep {}

  /**
   * @param capped the deadline passed without a release
   */
  record GrantTo(String member, boolean capped) implements ShardStep {}

  record DrainTo(Drain drain) implements ShardStep {}

  /** Clocks of dispatchers that differ by less are left as they are. */
  long CLOCKS_APART_MILLIS_MAX = 1_000;

  Wait IDLE = new Wait(Long.MAX_VALUE);

  /**
   * @param lease null if the shard has none
   * @param target who shall own it, or null if nobody wants it
   * @param targetLive the target has been heard, and is not about to leave
   * @param settled the group has no runs that were not heard yet
   * @param lockTimeMillis cap of a hand-over that begins now
   */
  static ShardStep next(
      Lease lease,
      Owner owner,
      String target,
      boolean targetLive,
      boolean settled,
      long lockTimeMillis,
      long nowMillis) {
    return switch (owner) {
      case NONE, DEAD -> target != null && targetLive ? new GrantTo(target, false) : IDLE;
      case UNHEARD -> IDLE;
      case ALIVE ->
          !settled
              ? IDLE
              : lease.owner().equals(target)
                  ? stay(lease)
                  : move(lease, target, targetLive, lockTimeMillis, nowMillis);
    };
  }

  /**
   * A drain as it may be: nobody waits for longer than the lock time. A deadline that is further
   * away was set by a dispatcher whose clock was ahead of this one's.
   */
  static Drain bounded(Drain drain, long lockTimeMillis, long nowMillis) {
    long latest = nowMillis + lockTimeMillis;
    return drain.deadlineMillis() <= latest + CLOCKS_APART_MILLIS_MAX
        ? drain
        : new Drain(drain.to(), latest);
  }

  private static ShardStep stay(Lease lease) {
    return lease.drain() == null ? IDLE : new DrainTo(null);
  }

  private static ShardStep move(
      Lease lease, String target, boolean targetLive, long lockTimeMillis, long nowMillis) {
    String to = target == null ? "" : target;
    Drain drain = lease.drain();
    if (target != null && !targetLive) {
      return IDLE;
    }
    if (drain == null) {
      return new DrainTo(new Drain(to, nowMillis + lockTimeMillis));
    }
    Drain bounded = bounded(drain, lockTimeMillis, nowMillis);
    if (!drain.to().equals(to)) {
      // The deadline stays: redirecting again and again must not put it off.
      return new DrainTo(new Drain(to, bounded.deadlineMillis()));
    }
    if (bounded != drain) {
      return new DrainTo(bounded);
    }
    if (target == null) {
      return IDLE;
    }
    return drain.deadlineMillis() <= nowMillis
        ? new GrantTo(target, true)
        : new Wait(drain.deadlineMillis());
  }
}
