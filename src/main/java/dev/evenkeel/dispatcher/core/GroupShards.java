package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.protocol.Generation;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The shards of one group, with their leases as far as the dispatcher knows them: the highest epoch
 * seen wins, and within an epoch a release is final. A lease may be behind the log, never ahead of
 * it; the compare-and-set in the log makes that safe.
 *
 * <p>A read that began before the answer to a write came is older than that answer. So reads carry
 * the {@link #mark()} of their beginning.
 */
public final class GroupShards {
  private final TreeMap<Shard, ShardState> states = new TreeMap<>();
  private final Map<String, TreeSet<Shard>> byInstance = new HashMap<>();
  private long sequence;

  /** What is known of a shard; created if it is not there. */
  ShardState state(Shard shard) {
    return states.computeIfAbsent(shard, ShardState::new);
  }

  /** What is known of a shard, or null. */
  ShardState known(Shard shard) {
    return states.get(shard);
  }

  Collection<ShardState> states() {
    return states.values();
  }

  /** Drops shards that are gone, with their leases, unless something of them is under way. */
  void retain(Topics topics) {
    for (ShardState state : List.copyOf(states.values())) {
      if (!topics.has(state.shard)) {
        // The log drops it, too; no read will say so.
        replace(state, null);
        states.computeIfPresent(state.shard, (shard, gone) -> gone.blank() ? null : gone);
      }
    }
  }

  /** A mark of now in the order of events. */
  long mark() {
    return sequence;
  }

  /** The answer to a write of our own. Returns whether it is news. */
  boolean answered(Lease lease) {
    ShardState state = state(lease.shard());
    state.writtenAt(++sequence);
    state.doubtedAt(Long.MAX_VALUE);
    return replace(state, state.merged(lease));
  }

  /** A broker's hint; it knows nothing of a drain. Returns whether it is news. */
  boolean hinted(LeaseChange change) {
    if (change.forgotten() && get(change.shard()) == null) {
      return false;
    }
    ShardState state = state(change.shard());
    Lease known = state.lease();
    if (known != null && change.epoch() < known.epoch()) {
      return false;
    }
    boolean sameEpoch = known != null && change.epoch() == known.epoch();
    if (!sameEpoch || change.owner() == null) {
      state.writtenAt(++sequence);
    }
    return replace(
        state,
        state.merged(
            new Lease(
                change.group(),
                change.shard(),
                change.epoch(),
                change.owner(),
                change.instance(),
                change.committed(),
                stateOffset(change, sameEpoch ? known : null),
                sameEpoch ? known.state() : null,
                sameEpoch ? known.drain() : null,
                sameEpoch ? known.groupTerm() : change.groupTerm(),
                known == null ? Generation.FIRST : known.generation(),
                change.ownerTimeoutMillis(),
                change.stage(),
                change.crashes(),
                change.skipped())));
  }

  /**
   * If the hint does not say it, a state that is known is still there, and there may be one since.
   *
   * @param known of the same epoch, or null
   */
  private static long stateOffset(LeaseChange change, Lease known) {
    boolean unsaid = change.stateOffset() == LeaseChange.STATE_UNKNOWN;
    return unsaid && known != null && known.stateOffset() >= 0
        ? known.stateOffset()
        : change.stateOffset();
  }

  /**
   * What a read that began at {@code mark} found. Returns whether it is news.
   *
   * @param lease null if there is none
   */
  boolean read(Shard shard, Lease lease, long mark) {
    ShardState state = state(shard);
    if (state.newerThan(mark)) {
      return false;
    }
    state.writtenAt(0);
    if (state.believes(mark)) {
      // The log refused what was known here: whatever it says now is right.
      state.doubtedAt(Long.MAX_VALUE);
      return replace(state, lease);
    }
    return replace(state, lease == null ? null : state.merged(lease));
  }

  /** The log disagreed: the next read that begins from now on is right, whatever it says. */
  void doubt(Shard shard) {
    state(shard).doubtedAt(++sequence);
  }

  /**
   * The log has dropped the lease. Earlier reads are older than that. Returns whether it is news.
   */
  boolean forget(Shard shard) {
    ShardState state = state(shard);
    state.writtenAt(++sequence);
    state.doubtedAt(Long.MAX_VALUE);
    return replace(state, null);
  }

  private boolean replace(ShardState state, Lease lease) {
    String former = owner(state.lease());
    String owner = owner(lease);
    if (!Objects.equals(former, owner)) {
      if (former != null) {
        byInstance.computeIfPresent(
            former,
            (instance, owned) -> owned.remove(state.shard) && owned.isEmpty() ? null : owned);
      }
      if (owner != null) {
        byInstance.computeIfAbsent(owner, fresh -> new TreeSet<>()).add(state.shard);
      }
    }
    return state.replace(lease);
  }

  /** The run of a member that owns the shard, or null. */
  private static String owner(Lease lease) {
    return lease == null || !lease.owned() ? null : lease.instance();
  }

  /** The lease, or null if none is known. */
  public Lease get(Shard shard) {
    ShardState state = states.get(shard);
    return state == null ? null : state.lease();
  }

  /** All leases that are known, by shard. */
  List<Lease> leases() {
    return states.values().stream().map(ShardState::lease).filter(lease -> lease != null).toList();
  }

  /**
   * The shards whose leases are known.
   *
   * @param topics numbers of their topics; null: of all
   */
  Stream<Shard> leased(Set<Integer> topics) {
    Stream<ShardState> all =
        topics == null
            ? states.values().stream()
            : topics.stream().flatMap(topic -> ofTopic(topic).values().stream());
    return all.filter(state -> state.lease() != null).map(state -> state.shard);
  }

  /** Whether anything is known of a shard of the topic. */
  boolean hasAny(int topic) {
    return !ofTopic(topic).isEmpty();
  }

  private NavigableMap<Shard, ShardState> ofTopic(int topic) {
    return states.subMap(new Shard(topic, 0), true, new Shard(topic, Integer.MAX_VALUE), true);
  }

  /** Whether no lease is known. */
  boolean isEmpty() {
    return states.values().stream().allMatch(state -> state.lease() == null);
  }

  /** The run that a release of the shard grants it to, or null. */
  static String heir(Lease lease) {
    boolean has = lease.owned() && lease.drain() != null && lease.drain().heir() != null;
    return has ? lease.drain().heir().instance() : null;
  }

  /**
   * The shards that a release will grant to a run of a member, sorted. At most {@link
   * Assignment#COMING_MAX}.
   */
  List<Assignment.Coming> comingTo(String instance) {
    return states.values().stream()
        .map(ShardState::lease)
        .filter(lease -> lease != null && instance.equals(heir(lease)))
        .sorted(Comparator.comparing(Lease::shard))
        .limit(Assignment.COMING_MAX)
        .map(lease -> new Assignment.Coming(lease.shard(), lease.epoch() + 1))
        .toList();
  }

  /** Shards that a run of a member owns, sorted. */
  public Set<Shard> ownedBy(String instance) {
    return byInstance.getOrDefault(instance, new TreeSet<>());
  }
}
