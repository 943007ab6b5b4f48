package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.protocol.Shard;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The shards that a consumer holds, and what it must remember of those that it held. */
final class OwnedShards {
  /**
   * An assignment that still names a shard after so long is not merely out of date: the dispatcher
   * hears of a release within two of its reads, most often at once. Perhaps the epochs of the group
   * began anew.
   */
  static final long INSISTS_MILLIS = 3_000;

  /** Since when assignments have named a shard at an epoch that was let go. */
  private record Named(long epoch, long sinceMillis) {}

  private final ConsumerOptions.Order order;
  private final int handOutMax;
  private final int heldMax;
  private final Map<Shard, OwnedShard> holds = new HashMap<>();

  /** Holds that are over while handlers, calls or writes of theirs are under way. */
  private final Map<Shard, OwnedShard> lingering = new HashMap<>();

  /** At which epoch each shard was let go last: an assignment that names it is out of date. */
  private final Map<Shard, Long> releasedEpochs = new HashMap<>();

  private final Map<Shard, Named> namedAgain = new HashMap<>();

  /** The highest epoch of each shard that was held here, however it ended. */
  private final Map<Shard, Long> heldEpochs = new HashMap<>();

  /**
   * The highest epoch of each shard under which nothing may begin any more: the log may still take
   * something of it at any time, or messages have begun under it that would begin again.
   */
  private final Map<Shard, Long> spentEpochs = new HashMap<>();

  private final OwnedShard.Drops drops = new OwnedShard.Drops();
  private boolean changed;

  /**
   * @param handOutMax messages of one shard that are handed out at once, at most
   * @param heldMax those that a gate may hold besides; 0: they count among these
   */
  OwnedShards(ConsumerOptions.Order order, int handOutMax, int heldMax) {
    this.order = order;
    this.handOutMax = handOutMax;
    this.heldMax = heldMax;
  }

  int count() {
    return holds.size();
  }

  /** The hold of a shard, or null. */
  OwnedShard get(Shard shard) {
    return holds.get(shard);
  }

  /** All holds now; what happens to them does not disturb the list. */
  List<OwnedShard> all() {
    return List.copyOf(holds.values());
  }

  /** Grows when messages that were held are not wanted any more. */
  int drops() {
    return drops.count;
  }

  /** The next held message behind which others have come to wait, or null. */
  Task pollCrowded() {
    return drops.crowded.poll();
  }

  /**
   * Whether an assignment names a shard that was let go. If assignments insist on it, the log is
   * asked: see {@link #take}.
   */
  boolean outOfDate(Assignment.Owned owned, long now) {
    if (!wasLetGo(owned)) {
      namedAgain.remove(owned.shard());
      return false;
    }
    Named named = namedAgain.get(owned.shard());
    if (named == null || named.epoch() != owned.epoch()) {
      namedAgain.put(owned.shard(), new Named(owned.epoch(), now));
      return true;
    }
    if (now - named.sinceMillis() < INSISTS_MILLIS) {
      return true;
    }
    namedAgain.remove(owned.shard());
    return false;
  }

  private boolean wasLetGo(Assignment.Owned owned) {
    return releasedEpochs.getOrDefault(owned.shard(), 0L) >= owned.epoch();
  }

  /**
   * Begins to hold a shard. At an epoch that is spent or that it was let go, it is only released:
   * if the lease is ours after all, the log takes that, and the next epoch is a new one for
   * everybody.
   */
  OwnedShard take(Assignment.Owned owned) {
    OwnedShard hold =
        new OwnedShard(owned.topic(), owned.shard(), owned.epoch(), order, handOutMax, drops);
    hold.heldMax = heldMax;
    hold.predecessor = lingering.get(owned.shard());
    boolean spent = spentEpochs.getOrDefault(owned.shard(), 0L) == owned.epoch();
    hold.doubt.inherit(spent || wasLetGo(owned));
    if (heldEpochs.getOrDefault(owned.shard(), 0L) < owned.epoch()) {
      // Nobody can have committed in this epoch yet.
      heldEpochs.put(owned.shard(), owned.epoch());
      hold.grantedCommitted = owned.committed();
    }
    holds.put(owned.shard(), hold);
    changed = true;
    return hold;
  }

  void gone(OwnedShard hold) {
    holds.remove(hold.shard, hold);
    changed = true;
    if (hold.releaseTaken) {
      releasedEpochs.put(hold.shard, hold.epoch);
    } else if (hold.begunOffset > hold.committed
        || hold.retriesRunning > 0
        || !hold.retries.outbox.isEmpty()) {
      spentEpochs.merge(hold.shard, hold.epoch, Math::max);
    }
    if (!settle(hold)) {
      lingering.put(hold.shard, hold);
    }
  }

  void forgetQuiet() {
    lingering.values().removeIf(this::settle);
  }

  /** Notes what is left of one that is over, if nothing of it is under way any more. */
  private boolean settle(OwnedShard hold) {
    boolean settled = hold.quiet() && !hold.writes();
    if (settled && hold.doubt.exists()) {
      spentEpochs.merge(hold.shard, hold.epoch, Math::max);
    }
    return settled;
  }

  /** Whether shards were gained or lost since the last call. */
  boolean takeChanged() {
    boolean was = changed;
    changed = false;
    return was;
  }
}
