package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.Lease;

/**
 * The next step of one shard that a group shall be reset on: a pure switch over who owns it.
 *
 * <pre>
 * owner     forced                                        not forced
 * NONE      reset                                         reset
 * DEAD      past its lock time reset                      past its lock time reset, before refuse
 * UNHEARD   wait                                          refuse
 * ALIVE     drain to anybody, past the deadline reset     refuse
 * </pre>
 */
sealed interface ResetStep {
  /** Somebody owns the shard, or may come back to it. */
  record Refuse() implements ResetStep {}

  /** Nothing to do before {@code untilMillis}, unless something happens. */
  record Wait(long untilMillis) implements ResetStep {}

  record DrainIt(Drain drain) implements ResetStep {}

  /** To the log: whoever owns it is fenced. */
  record Reset() implements ResetStep {}

  /**
   * @param lease null if the shard has none
   * @param force whoever owns it loses it
   * @param lockTimeMillis how long a live owner may take to let go
   * @param lockedUntilMillis until then a dead owner's release may still come
   */
  static ResetStep next(
      Lease lease,
      ShardStep.Owner owner,
      boolean force,
      long lockTimeMillis,
      long lockedUntilMillis,
      long nowMillis) {
    return switch (owner) {
      case NONE -> new Reset();
      case DEAD ->
          nowMillis >= lockedUntilMillis
              ? new Reset()
              : force ? new Wait(lockedUntilMillis) : new Refuse();
      case UNHEARD -> force ? new Wait(Long.MAX_VALUE) : new Refuse();
      case ALIVE -> {
        if (!force) {
          yield new Refuse();
        }
        Drain drain = lease.drain();
        if (drain == null) {
          yield new DrainIt(new Drain("", nowMillis + lockTimeMillis));
        }
        Drain bounded = ShardStep.bounded(drain, lockTimeMillis, nowMillis);
        if (bounded != drain) {
          yield new DrainIt(bounded);
        }
        yield drain.deadlineMillis() <= nowMillis ? new Reset() : new Wait(drain.deadlineMillis());
      }
    };
  }
}
