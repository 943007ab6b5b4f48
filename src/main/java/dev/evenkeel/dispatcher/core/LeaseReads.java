package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Reads leases from the log into the books. At most one read of a scope is on its way for the
 * dispatcher itself; those of people who look come on top.
 */
final class LeaseReads {
  /** The scope of all groups; no group has an empty name. */
  private static final String ALL = "";

  /**
   * @param marks of the books when it began, by group
   */
  private record Read(String scope, Map<String, Long> marks) {}

  private final Groups groups;
  private final LeaseNews news;
  private final ShardEnds ends;
  private final Outbox out;
  private final Map<Long, Read> inFlight = new HashMap<>();
  private final Set<String> again = new HashSet<>();

  LeaseReads(Groups groups, LeaseNews news, ShardEnds ends, Outbox out) {
    this.groups = groups;
    this.news = news;
    this.ends = ends;
    this.out = out;
  }

  /** Reads all leases of all groups. */
  void readAll() {
    read(ALL);
  }

  /** Reads the leases of a group, once more if that is being done: what is asked for is later. */
  void read(String scope) {
    for (Read read : inFlight.values()) {
      if (scope.equals(read.scope())) {
        again.add(scope);
        return;
      }
    }
    out.add(begin(scope));
  }

  /**
   * @param group null: of all groups
   */
  DispatcherAction.ReadLeases look(String group) {
    return begin(group == null ? ALL : group);
  }

  private DispatcherAction.ReadLeases begin(String scope) {
    long id = out.nextId();
    Map<String, Long> marks = new HashMap<>();
    groups.all().forEach(each -> marks.put(each.state().name(), each.state().book().mark()));
    inFlight.put(id, new Read(scope, marks));
    return new DispatcherAction.ReadLeases(id, scope.equals(ALL) ? null : scope);
  }

  /**
   * @param statuses of the shards whose leaders answered; null if none did
   */
  void answered(long id, List<ShardStatus> statuses, long nowMillis) {
    Read read = inFlight.remove(id);
    if (read == null) {
      return;
    }
    if (statuses != null) {
      merge(statuses, read, nowMillis);
    }
    if (again.remove(read.scope())) {
      read(read.scope());
    }
  }

  /** Takes in what was read before there were any books. */
  void first(List<ShardStatus> statuses, long nowMillis) {
    merge(statuses, new Read(ALL, Map.of()), nowMillis);
  }

  private void merge(List<ShardStatus> statuses, Read read, long nowMillis) {
    ends.read(statuses);
    Set<Shard> covered = new HashSet<>();
    Map<String, Map<Shard, Lease>> found = new HashMap<>();
    for (ShardStatus status : statuses) {
      covered.add(status.shard());
      for (Lease lease : status.leases()) {
        found.computeIfAbsent(lease.group(), name -> new HashMap<>()).put(lease.shard(), lease);
      }
    }
    Set<String> names = new TreeSet<>();
    if (read.scope().equals(ALL)) {
      names.addAll(groups.names());
      names.addAll(found.keySet());
    } else {
      names.add(read.scope());
    }
    for (String name : names) {
      long mark = read.marks().getOrDefault(name, 0L);
      merge(groups.make(name), found.getOrDefault(name, Map.of()), covered, mark, nowMillis);
    }
  }

  /** A shard whose leader answered, and told of no lease, has none. */
  private void merge(
      Group group, Map<Shard, Lease> leases, Set<Shard> covered, long mark, long nowMillis) {
    KnownLeases book = group.state().book();
    Set<Shard> shards = new TreeSet<>(leases.keySet());
    book.all().forEach(lease -> shards.add(lease.shard()));
    shards.retainAll(covered);
    for (Shard shard : shards) {
      Lease before = book.get(shard);
      if (book.read(shard, leases.get(shard), mark)) {
        news.changed(group, shard, before, nowMillis);
      }
    }
  }
}
