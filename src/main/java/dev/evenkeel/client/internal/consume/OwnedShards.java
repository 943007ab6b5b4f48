package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The shards that a consumer owns, and what it must remember of those that it owned. */
final class OwnedShards {
  /**
   * An assignment that still names a shard after so long is not merely out of date: the dispatcher
   * hears of a release within two of its reads, most often at once. Perhaps the epochs of the group
   * began anew.
   */
  static final long INSISTS_MILLIS = 3_000;

  /** Since when assignments have named a shard at an epoch that was released. */
  private record Named(long epoch, long sinceMillis) {}

  /** Messages of one shard that are started before the next shard gets its turn. */
  private static final int TURN_MESSAGES = 32;

  private final Environment environment;
  private final OwnedShard.Host host;
  private final int admissionMax;
  private final ShardMessages.AdmissionFeed feed = new ShardMessages.AdmissionFeed();
  private final Map<Shard, OwnedShard> shards = new HashMap<>();

  /** Those that have something to hand out, perhaps; each gets its turn. */
  private final ArrayDeque<OwnedShard> ready = new ArrayDeque<>();

  private int turn;

  /** Those that are over while handlers, calls or writes of theirs are under way. */
  private final Map<Shard, OwnedShard> lingering = new HashMap<>();

  /** At which epoch each shard was released last: an assignment that names it is out of date. */
  private final Map<Shard, Long> releasedEpochs = new HashMap<>();

  private final Map<Shard, Named> namedAgain = new HashMap<>();

  /** The highest epoch at which each shard was owned here, however that ended. */
  private final Map<Shard, Long> ownedEpochs = new HashMap<>();

  /**
   * The highest epoch of each shard under which nothing may begin any more: the log may still take
   * something of it at any time, or messages have begun under it that would begin again.
   */
  private final Map<Shard, Long> spentEpochs = new HashMap<>();

  private boolean changed;

  /**
   * @param admissionMax messages of a shard that may be in admission besides those handed out; 0:
   *     they count among these
   */
  OwnedShards(Environment environment, OwnedShard.Host host, int admissionMax) {
    this.environment = environment;
    this.host = host;
    this.admissionMax = admissionMax;
  }

  int count() {
    return shards.size();
  }

  /** What is known of a shard that is owned, or null. */
  OwnedShard get(Shard shard) {
    return shards.get(shard);
  }

  /** All shards now; what happens to them does not disturb the list. */
  List<OwnedShard> all() {
    return List.copyOf(shards.values());
  }

  ShardMessages.AdmissionFeed feed() {
    return feed;
  }

  // ---- Turns

  void ready(OwnedShard shard) {
    if (shard.queued(true)) {
      ready.add(shard);
    }
  }

  boolean hasReady() {
    return !ready.isEmpty();
  }

  /** The next message of a shard whose turn it is, or null; see {@link OwnedShard#next}. */
  Task next(boolean forAdmission, long now) {
    OwnedShard shard;
    while ((shard = ready.peek()) != null) {
      Task task = shard.next(forAdmission, now);
      if (task == null) {
        ready.poll();
        shard.queued(false);
        turn = 0;
        continue;
      }
      if (++turn >= TURN_MESSAGES) {
        ready.add(ready.poll());
        turn = 0;
      }
      return task;
    }
    return null;
  }

  // ---- Shards come and go

  /**
   * Whether an assignment names a shard that was released. If assignments insist on it, the log is
   * asked: see {@link #take}.
   */
  boolean outOfDate(Assignment.Owned owned, long now) {
    if (!wasReleased(owned)) {
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

  private boolean wasReleased(Assignment.Owned owned) {
    return releasedEpochs.getOrDefault(owned.shard(), 0L) >= owned.epoch();
  }

  /**
   * Begins to own a shard. At an epoch that is spent or that it was released at, it is only
   * released: if the lease is ours after all, the log takes that, and the next epoch is a new one
   * for everybody.
   */
  OwnedShard take(Assignment.Owned owned) {
    Shard id = owned.shard();
    boolean spent = spentEpochs.getOrDefault(id, 0L) == owned.epoch() || wasReleased(owned);
    // At an epoch that is new nobody can have committed yet.
    boolean isNew = ownedEpochs.getOrDefault(id, 0L) < owned.epoch();
    ownedEpochs.merge(id, owned.epoch(), Math::max);
    OwnedShard shard =
        new OwnedShard(
            new Ownership(owned.topic(), id, owned.epoch()),
            environment,
            host,
            feed,
            admissionMax,
            new OwnedShard.Start(lingering.get(id), spent, isNew ? owned.committed() : -1));
    shards.put(id, shard);
    changed = true;
    return shard;
  }

  void gone(OwnedShard shard) {
    shards.remove(shard.shard(), shard);
    changed = true;
    if (shard.releaseTaken()) {
      releasedEpochs.put(shard.shard(), shard.epoch());
    } else if (shard.wouldRepeat()) {
      spentEpochs.merge(shard.shard(), shard.epoch(), Math::max);
    }
    if (!settle(shard)) {
      lingering.put(shard.shard(), shard);
    }
  }

  void forgetQuiet() {
    lingering.values().removeIf(this::settle);
  }

  /** Notes what is left of one that is over, if nothing of it is under way any more. */
  private boolean settle(OwnedShard shard) {
    boolean settled = shard.quiet() && !shard.writes();
    if (settled && shard.inDoubt()) {
      spentEpochs.merge(shard.shard(), shard.epoch(), Math::max);
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
