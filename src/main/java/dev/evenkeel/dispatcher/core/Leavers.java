package dev.evenkeel.dispatcher.core;

import dev.evenkeel.model.Shard;
import java.util.HashMap;
import java.util.Map;

/**
 * Live members of one group that are about to leave: those that said so, and those that let go of a
 * shard unasked. To give them the shard back, or others to it, would only make all wait.
 *
 * <p>Who only let go is passed over for its member timeout, because it may have had another reason.
 */
final class Leavers {
  /** A member let go of {@code shard} unasked. */
  private record Withdrawal(Shard shard, long untilMillis) {}

  private final Map<String, Withdrawal> withdrawn = new HashMap<>();

  boolean include(Member member) {
    return member.beat().closing() || withdrawn.containsKey(member.instance());
  }

  /**
   * A member let go of a shard unasked.
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

  /** Returns whether somebody is not passed over any more. */
  boolean expire(long nowMillis) {
    return withdrawn.values().removeIf(each -> nowMillis >= each.untilMillis());
  }
}
