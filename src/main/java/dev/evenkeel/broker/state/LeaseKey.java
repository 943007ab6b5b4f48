package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.Shard;

/** Names a lease. Sorted by shard, so that the leases on one shard lie together. */
public record LeaseKey(Shard shard, String group) implements Comparable<LeaseKey> {
  @Override
  public int compareTo(LeaseKey other) {
    int byShard = shard.compareTo(other.shard);
    return byShard != 0 ? byShard : group.compareTo(other.group);
  }
}
