package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Reads the leases of shards from the log, sends the requests that move shards, and does what
 * follows when a lease changes. The dispatcher itself has at most one read of a scope on its way;
 * reads for reports come on top.
 */
final class ShardLeases {
  /** The scope of all groups; no group has an empty name. */
  private static final String ALL = "";

  /**
   * @param topics whose shards are read; null: all
   * @param groups those about which the answer matters; null: all of the scope
   * @param marks of the groups' shards when it began, by group
   */
  private record Read(
      String scope, Set<Integer> topics, Set<String> groups, Map<String, Long> marks) {
    boolean ofTopics() {
      return topics != null;
    }
  }

  private final DispatcherState state;
  private final MoveRecorder moves;
  private final GroupLeases groupLeases;
  private final List<Read> reads = new ArrayList<>();
  private final Set<String> readAgain = new HashSet<>();

  /** Topics whose shards to read when the read of others has been answered. */
  private final Set<Integer> topicsAgain = new HashSet<>();

  ShardLeases(DispatcherState state, MoveRecorder moves, GroupLeases groupLeases) {
    this.state = state;
    this.moves = moves;
    this.groupLeases = groupLeases;
  }

  // ---- Reads

  /** Reads all leases of all groups. */
  void readAll() {
    read(ALL);
  }

  /** Reads the leases of a group. If a read is on its way already, another one follows it. */
  private void read(String scope) {
    if (reads.stream().anyMatch(read -> !read.ofTopics() && scope.equals(read.scope()))) {
      readAgain.add(scope);
    } else {
      state.out.add(begin(scope, null, null));
    }
  }

  /** Reads the leases of all groups on the shards of these topics. */
  void readTopics(Set<Integer> topics) {
    if (reads.stream().anyMatch(Read::ofTopics)) {
      topicsAgain.addAll(topics);
    } else if (!topics.isEmpty()) {
      state.out.add(begin(ALL, Set.copyOf(topics), null));
    }
  }

  /**
   * @param group null: of all groups
   */
  DispatcherAction.ReadLeases look(String group) {
    return begin(group == null ? ALL : group, null, null);
  }

  /**
   * @param topics numbers of the topics on whose shards it is
   * @param groups those that it is about
   */
  DispatcherAction.ReadLeases look(Set<Integer> topics, Set<String> groups) {
    return begin(ALL, topics, groups);
  }

  private DispatcherAction.ReadLeases begin(String scope, Set<Integer> topics, Set<String> groups) {
    Read read = new Read(scope, topics, groups, marks(scope, groups));
    reads.add(read);
    return state.out.prepare(
        id -> new DispatcherAction.ReadLeases(id, scope.equals(ALL) ? null : scope, topics),
        (statuses, nowMillis) -> answered(read, statuses, nowMillis));
  }

  /** Of those that it is about only: reads of few must not take longer where there are many. */
  private Map<String, Long> marks(String scope, Set<String> groups) {
    Map<String, Long> marks = new HashMap<>();
    if (groups == null && scope.equals(ALL)) {
      state.groups().forEach(group -> marks.put(group.name(), group.shards().mark()));
      return marks;
    }
    for (String name : groups == null ? Set.of(scope) : groups) {
      GroupState group = state.get(name);
      if (group != null) {
        marks.put(name, group.shards().mark());
      }
    }
    return marks;
  }

  private void answered(Read read, List<ShardStatus> statuses, long nowMillis) {
    reads.remove(read);
    if (statuses != null) {
      learn(statuses, read, nowMillis);
    }
    if (read.ofTopics()) {
      Set<Integer> next = Set.copyOf(topicsAgain);
      topicsAgain.clear();
      readTopics(next);
    } else if (readAgain.remove(read.scope())) {
      read(read.scope());
    }
  }

  /** Takes the leases that were read before the start. */
  void first(List<ShardStatus> statuses, long nowMillis) {
    learn(statuses, new Read(ALL, null, null, Map.of()), nowMillis);
  }

  private void learn(List<ShardStatus> statuses, Read read, long nowMillis) {
    state.read(statuses);
    Set<Shard> covered = new HashSet<>();
    Map<String, Map<Shard, Lease>> found = new HashMap<>();
    for (ShardStatus status : statuses) {
      covered.add(status.shard());
      for (Lease lease : status.leases()) {
        found.computeIfAbsent(lease.group(), name -> new TreeMap<>()).put(lease.shard(), lease);
      }
    }
    Set<String> names = new TreeSet<>();
    if (read.groups() != null) {
      names.addAll(read.groups());
      // Those that were forgotten meanwhile do not come back.
      names.removeIf(name -> state.get(name) == null);
    } else if (read.scope().equals(ALL)) {
      state.groups().forEach(group -> names.add(group.name()));
      names.addAll(found.keySet());
    } else {
      names.add(read.scope());
    }
    for (String name : names) {
      GroupState group = state.make(name);
      Map<Shard, Lease> leases = found.getOrDefault(name, Map.of());
      long mark = read.marks().getOrDefault(name, 0L);
      // A shard whose leader answered, and named no lease, has none.
      List<Shard> gone =
          group
              .shards()
              .leased(read.topics())
              .filter(shard -> !leases.containsKey(shard) && covered.contains(shard))
              .toList();
      leases.forEach(
          (shard, lease) ->
              learn(group, shard, known -> known.read(shard, lease, mark), nowMillis));
      gone.forEach(shard -> learn(group, shard, known -> known.read(shard, null, mark), nowMillis));
    }
  }

  // ---- Requests that move shards

  /** Sends what the plans want now. */
  void pump(long nowMillis) {
    for (String name : state.dirty.takePumps(nowMillis)) {
      GroupState group = state.get(name);
      if (group != null) {
        Member needsLease =
            group.plan().pump(nowMillis, (shard, step) -> write(group, shard, step));
        if (needsLease != null) {
          groupLeases.ask(group, needsLease, nowMillis);
        }
      }
    }
  }

  private void write(GroupState group, ShardState shard, DataCommand.Step step) {
    state.out.ask(
        id -> new DispatcherAction.Write(id, shard.shard, step),
        (reply, nowMillis) -> {
          if (reply instanceof Reply.OfLease of) {
            taken(group, shard, of.lease(), nowMillis);
          } else {
            failed(group, shard, reply instanceof Reply.Refused no ? no : null, nowMillis);
          }
        });
  }

  private void taken(GroupState group, ShardState shard, Lease lease, long nowMillis) {
    ShardState.Request request = shard.request;
    Long releaseMillis = group.plan().taken(shard, lease, nowMillis);
    if (request.command() instanceof DataCommand.Grant) {
      moves.granted(group, shard, request, lease, releaseMillis, nowMillis);
    }
    learn(group, shard.shard, known -> known.answered(lease), nowMillis);
  }

  private void failed(GroupState group, ShardState shard, Reply.Refused refused, long nowMillis) {
    Refusal refusal = refused == null ? Refusal.INVALID : refused.refusal();
    if (refusal == Refusal.FENCED) {
      group.shards().doubt(shard.shard);
    } else if (refusal == Refusal.UNKNOWN_SHARD) {
      state.view.read();
    }
    group.plan().failed(shard, refused, nowMillis);
    moves.look(group, shard, shard.lease(), nowMillis);
    read(group.name());
  }

  // ---- What is learned of leases

  /** A broker says that a lease changed. */
  void hinted(LeaseChange change, long nowMillis) {
    GroupState group = state.get(change.group());
    if (group != null) {
      learn(group, change.shard(), known -> known.hinted(change), !change.forgotten(), nowMillis);
    }
  }

  /** The log has dropped the lease. */
  void forgotten(GroupState group, Shard shard, long nowMillis) {
    learn(group, shard, known -> known.forget(shard), nowMillis);
  }

  /** A shard is there no more, so nobody owns it. */
  void gone(Shard shard, String topic) {
    for (GroupState group : state.groups()) {
      if (group.shards().get(shard) != null) {
        state.out.add(new DispatcherAction.Ownership(group.name(), topic, shard, null));
      }
    }
  }

  private void learn(GroupState group, Shard shard, Predicate<GroupShards> update, long nowMillis) {
    learn(group, shard, update, true, nowMillis);
  }

  /**
   * Every change of a lease comes this way.
   *
   * @param update updates the group's shards, and returns whether that is news
   * @param released whether its owner has released it if nobody owns it any more
   */
  private void learn(
      GroupState group,
      Shard shard,
      Predicate<GroupShards> update,
      boolean released,
      long nowMillis) {
    Lease before = group.shards().get(shard);
    if (!update.test(group.shards())) {
      return;
    }
    ShardState changed = group.shards().state(shard);
    Lease after = changed.lease();
    if (changed.inherited(before) && !group.plan().grants(changed)) {
      moves.inherited(group, changed, before, nowMillis);
    }
    group.plan().leaseChanged(before, changed, released, nowMillis);
    moves.look(group, changed, before, nowMillis);
    for (Lease lease : new Lease[] {before, after}) {
      if (lease != null && lease.owned()) {
        group.assignmentChanged(lease.owner());
        if (GroupShards.heir(lease) != null) {
          group.assignmentChanged(lease.drain().to());
        }
      }
    }
    if (after != null
        && after.owned()
        && !after.owner().startsWith(Names.DISPATCHER_HOLDER)
        && group.members().sighted(unheard(after, nowMillis))) {
      group.plan().retarget();
    }
    String topic = state.topics().name(shard.topicId());
    if (topic != null) {
      state.out.add(new DispatcherAction.Ownership(group.name(), topic, shard, after));
    }
  }

  /**
   * An owner that may be unknown, because another dispatcher made it one, or because this
   * dispatcher is new. It may start handlers for its own timeout, which the lease has.
   */
  private UnheardMember unheard(Lease lease, long nowMillis) {
    long timeoutMillis = Math.max(state.settings.memberTimeoutMillis(), lease.ownerTimeoutMillis());
    return new UnheardMember(
        lease.group(),
        lease.owner(),
        lease.instance(),
        null,
        null,
        null,
        null,
        nowMillis + timeoutMillis,
        timeoutMillis,
        Heartbeat.Wishes.NONE,
        null);
  }
}
