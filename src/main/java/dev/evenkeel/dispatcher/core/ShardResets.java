package dev.evenkeel.dispatcher.core;

import dev.evenkeel.model.Lease;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.Shard;
import dev.evenkeel.model.StartAt;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The shards that one group shall be reset on, and what became of those that it was. */
final class ShardResets {
  /**
   * @param request that asked for it
   * @param force whoever owns the shard loses it
   */
  record Wish(long request, StartAt to, boolean force) {}

  /**
   * @param lease after the reset, or null: it was refused
   */
  record Outcome(long request, Shard shard, Lease lease, Refusal refusal, String detail) {}

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

  private boolean take(Shard shard, Wish sent) {
    return sent != null && wishes.remove(shard, sent);
  }

  /** Gives up what is left of a request. */
  void giveUp(long request) {
    wishes.values().removeIf(wish -> wish.request() == request);
  }

  /** What happened since the last call. */
  List<Outcome> take() {
    List<Outcome> taken = List.copyOf(outcomes);
    outcomes.clear();
    return taken;
  }
}
