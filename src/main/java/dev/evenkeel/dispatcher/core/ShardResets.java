package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The shards that one group shall be reset on, and what became of those that it was. */
final class ShardResets {
  /**
   * @param request that asked for it, which is not negative; or {@link #NOBODY}
   * @param force whoever owns the shard loses it
   */
  record Wish(long request, StartAt to, boolean force) {
    private Wish ofNobody() {
      return new Wish(NOBODY, to, force);
    }
  }

  /**
   * @param lease after the reset, or null: it was refused
   */
  record Outcome(long request, Shard shard, Lease lease, Refusal refusal, String detail) {}

  /** Who asked was told to wait no longer. */
  private static final long NOBODY = -1;

  private final Map<Shard, Wish> wishes = new TreeMap<>();
  private final List<Outcome> outcomes = new ArrayList<>();

  void ask(Shard shard, Wish wish) {
    wishes.put(shard, wish);
  }

  /** Whether a reset of one of those shards is under way. */
  boolean any(Collection<Shard> shards) {
    return shards.stream().anyMatch(wishes::containsKey);
  }

  /** What is wished for a shard, or null. */
  Wish get(Shard shard) {
    return wishes.get(shard);
  }

  /** Shards of topics that are no more cannot be reset. */
  void topicsChanged(Topics topics) {
    List<Shard> gone = wishes.keySet().stream().filter(shard -> !topics.has(shard)).toList();
    for (Shard shard : gone) {
      refused(shard, wishes.get(shard), Refusal.UNKNOWN_SHARD, "the topic was deleted");
    }
  }

  /** What is left of a request goes on, and nobody is told. */
  void answered(long request) {
    wishes.replaceAll((shard, wish) -> wish.request() == request ? wish.ofNobody() : wish);
  }

  /** Gives up what is left of a request. */
  void giveUp(long request) {
    wishes.values().removeIf(wish -> wish.request() == request);
  }

  /**
   * The log has reset a shard.
   *
   * @param sent what it was asked for: if that was given up since, another wish may be there now
   */
  void done(Shard shard, Wish sent, Lease lease) {
    if (take(shard, sent)) {
      outcomes.add(new Outcome(sent.request(), shard, lease, null, null));
    }
  }

  /** As {@link #done}: the shard is not reset. */
  void refused(Shard shard, Wish sent, Refusal refusal, String detail) {
    if (take(shard, sent)) {
      outcomes.add(new Outcome(sent.request(), shard, null, refusal, detail));
    }
  }

  /** Takes out what {@code sent} was, and returns whether somebody waits for it. */
  private boolean take(Shard shard, Wish sent) {
    Wish wish = wishes.get(shard);
    if (wish == null || sent == null || !wish.equals(sent) && !wish.equals(sent.ofNobody())) {
      return false;
    }
    wishes.remove(shard);
    return wish.request() != NOBODY;
  }

  /** What happened since the last call. */
  List<Outcome> take() {
    List<Outcome> taken = List.copyOf(outcomes);
    outcomes.clear();
    return taken;
  }
}
