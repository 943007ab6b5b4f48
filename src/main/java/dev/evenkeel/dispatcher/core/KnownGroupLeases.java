package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.GroupLease;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The leases of whole groups as far as this dispatcher knows them: it may be behind the meta log,
 * never ahead of it. The log's compare and set makes up for that.
 */
final class KnownGroupLeases {
  private final Map<String, GroupLease> byGroup = new HashMap<>();

  /** What the log says of one; an older word is ignored. */
  void take(GroupLease lease) {
    GroupLease before = byGroup.get(lease.group());
    if (before == null || lease.term() >= before.term()) {
      byGroup.put(lease.group(), lease);
    }
  }

  GroupLease of(String group) {
    GroupLease lease = byGroup.get(group);
    return lease == null ? GroupLease.none(group) : lease;
  }

  /** The group has no lease any more. */
  void forget(String group) {
    byGroup.remove(group);
  }

  void retain(Predicate<String> groups) {
    byGroup.keySet().removeIf(groups.negate());
  }
}
