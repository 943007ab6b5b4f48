package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.Shard;
import java.util.HashMap;
import java.util.Map;

/**
 * Live members of one group that are about to leave: those that said so, and those that released a
 * shard without being asked. Granting shards to them would only delay everybody.
 *
 * <p>A member that only released a shard is passed over for its member timeout, because it may have
 * had another reason.
 */
final class DepartingMembers {
  /** A member released {@code shard} without being asked. */
  private record Withdrawal(Shard shard, long untilMillis) {}

  /** How long a closing member may take to release a shard before it is asked to. */
  private static final long UNASKED_MILLIS = 1_000;

  /** Closing takes no longer, or its shards are drained by then. */
  private static final long REMEMBERED_MILLIS = 60_000;

  private final Map<String, Withdrawal> withdrawn = new HashMap<>();

  /** Runs that close: until when their shards are not asked for. */
  private final Map<String, Long> unaskedUntil = new HashMap<>();

  boolean include(Member member) {
    return member.beat().closing() || withdrawn.containsKey(member.instance());
  }

  /**
   * Until when {@code member} is not asked for its shards: a closing member releases them anyway,
   * and the request would only delay its release in the log.
   *
   * @return 0 if it does not close
   */
  long unaskedUntilMillis(Member member, long nowMillis) {
    if (!member.beat().closing()) {
      return 0;
    }
    return unaskedUntil.computeIfAbsent(member.instance(), run -> nowMillis + UNASKED_MILLIS);
  }

  /**
   * A member released a shard without being asked.
   *
   * @return whether that is news
   */
  boolean letsGo(Member member, Shard shard, long nowMillis) {
    long untilMillis = nowMillis + member.beat().memberTimeoutMillis();
    return withdrawn.put(member.instance(), new Withdrawal(shard, untilMillis)) == null;
  }

  /** Leases of a deleted topic end like released ones, which says nothing of their owners. */
  void topicsChanged(Topics topics) {
    withdrawn.values().removeIf(each -> !topics.has(each.shard()));
  }

  /** Returns whether a member is not passed over any more. */
  boolean expire(long nowMillis) {
    if (unaskedUntil.isEmpty() && withdrawn.isEmpty()) {
      return false;
    }
    unaskedUntil.values().removeIf(until -> nowMillis >= until + REMEMBERED_MILLIS);
    return withdrawn.values().removeIf(each -> nowMillis >= each.untilMillis());
  }
}
