package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.protocol.Generation;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The leases of one group as far as the dispatcher knows them: the highest epoch seen wins, and
 * within an epoch a release is final. It may be behind the log, never ahead of it; the log's
 * compare and set makes up for that.
 *
 * <p>A read that began before the answer to a write came is older than that answer. So reads carry
 * the {@link #mark()} of their beginning.
 */
public final class KnownLeases {
  private final TreeMap<Shard, Lease> leases = new TreeMap<>();
  private final Map<String, TreeSet<Shard>> byInstance = new HashMap<>();
  private final Map<Shard, Long> granted = new HashMap<>();
  private final Map<Shard, Long> touched = new HashMap<>();
  private final Map<Shard, Long> doubted = new HashMap<>();
  private long sequence;

  /** A point in the order of what came in. */
  long mark() {
    return sequence;
  }

  /** The answer to a write of our own. */
  boolean answered(Lease lease) {
    touched.put(lease.shard(), ++sequence);
    doubted.remove(lease.shard());
    return merge(lease);
  }

  /** A broker's hint; it knows nothing of a drain. */
  boolean hinted(LeaseChange change) {
    Lease known = leases.get(change.shard());
    if (known != null && change.epoch() < known.epoch()) {
      return false;
    }
    boolean sameEpoch = known != null && change.epoch() == known.epoch();
    if (!sameEpoch || change.owner() == null) {
      touched.put(change.shard(), ++sequence);
    }
    return merge(
        new Lease(
            change.group(),
            change.shard(),
            change.epoch(),
            change.owner(),
            change.instance(),
            change.committed(),
            sameEpoch ? known.stateOffset() : -1,
            sameEpoch ? known.state() : null,
            sameEpoch ? known.drain() : null,
            sameEpoch ? known.groupTerm() : change.groupTerm(),
            known == null ? Generation.FIRST : known.generation(),
            change.ownerTimeoutMillis()));
  }

  /**
   * What a read that began at {@code mark} found.
   *
   * @param lease null if there is none
   */
  boolean read(Shard shard, Lease lease, long mark) {
    if (touched.getOrDefault(shard, 0L) > mark) {
      return false;
    }
    touched.remove(shard);
    Long doubt = doubted.get(shard);
    if (doubt != null && doubt <= mark) {
      // The log refused what the book says: whatever the log says now is right.
      doubted.remove(shard);
      return replace(shard, lease);
    }
    return lease == null ? replace(shard, null) : merge(lease);
  }

  /** The log disagreed: the next read that begins from now on is believed, whatever it says. */
  void doubt(Shard shard) {
    doubted.put(shard, ++sequence);
  }

  /** The log has dropped it. What was read before is older than that. */
  void forget(Shard shard) {
    touched.put(shard, ++sequence);
    doubted.remove(shard);
    replace(shard, null);
  }

  private boolean merge(Lease lease) {
    Lease known = leases.get(lease.shard());
    if (known == null || lease.epoch() > known.epoch()) {
      return replace(lease.shard(), lease);
    }
    if (lease.epoch() < known.epoch() || !known.owned() && lease.owned()) {
      return false;
    }
    return replace(
        lease.shard(),
        lease.committed() >= known.committed() ? lease : lease.committedAt(known.committed()));
  }

  private boolean replace(Shard shard, Lease lease) {
    Lease former = lease == null ? leases.remove(shard) : leases.put(shard, lease);
    if (former != null && former.owned()) {
      TreeSet<Shard> owned = byInstance.get(former.instance());
      owned.remove(shard);
      if (owned.isEmpty()) {
        byInstance.remove(former.instance());
      }
    }
    if (lease == null) {
      granted.remove(shard);
    } else if (former == null || former.epoch() != lease.epoch()) {
      granted.put(shard, lease.committed());
    }
    if (lease != null && lease.owned()) {
      byInstance.computeIfAbsent(lease.instance(), instance -> new TreeSet<>()).add(shard);
    }
    return !sameFacts(former, lease);
  }

  /** Progress is no change: it neither moves a shard nor alters an assignment. */
  private static boolean sameFacts(Lease a, Lease b) {
    if (a == null || b == null) {
      return a == b;
    }
    return a.epoch() == b.epoch()
        && Objects.equals(a.instance(), b.instance())
        && Objects.equals(a.drain(), b.drain());
  }

  /** The lease, or null if none is known. */
  public Lease get(Shard shard) {
    return leases.get(shard);
  }

  /**
   * The committed offset of a shard when its present epoch was first seen here. Until the owner of
   * that epoch commits, it is what the grant found.
   */
  long committedAtGrant(Shard shard) {
    return granted.getOrDefault(shard, -1L);
  }

  public Collection<Lease> all() {
    return leases.values();
  }

  /** Shards that a run of a member owns, sorted. */
  public Set<Shard> ownedBy(String instance) {
    return byInstance.getOrDefault(instance, new TreeSet<>());
  }
}
