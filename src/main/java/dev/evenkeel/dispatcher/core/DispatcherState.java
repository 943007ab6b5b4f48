package dev.evenkeel.dispatcher.core;

import dev.evenkeel.assign.Assignor;
import dev.evenkeel.bus.GroupScope;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** What all parts of the core share: the groups, the topics, the moves, and what is to be done. */
final class DispatcherState {
  final DispatcherSettings settings;
  final PendingActions out = new PendingActions();
  final TopicReads view = new TopicReads(out);
  final DirtyGroups dirty = new DirtyGroups();
  final WaitingHeartbeats waiting = new WaitingHeartbeats(this::weight);
  final MoveLog moves = new MoveLog();

  /** Runs of members that have ended, in whatever group. */
  final EndedRuns endings = new EndedRuns();

  /** The feature level of the cluster. */
  int level;

  /** Whether no other dispatcher can be active now. */
  BooleanSupplier alone = () -> true;

  /**
   * Until then, tracks of coordinators may go on that an earlier dispatcher knew and this one does
   * not; null before it has begun.
   */
  Long tracksUnknownUntilMillis;

  /** The share of each user. */
  ToDoubleFunction<String> weights = user -> 1;

  /** Groups that had a record when this dispatcher began. */
  final Set<String> recordedBefore = new HashSet<>();

  private final Function<String, Assignor> assignors;
  private final NavigableMap<String, GroupState> groups = new TreeMap<>();

  /** End offsets of shards, as last read from their leaders. */
  private final Map<Shard, Long> ends = new HashMap<>();

  DispatcherState(DispatcherSettings settings, Function<String, Assignor> assignors) {
    this.settings = settings;
    this.assignors = assignors;
  }

  /** The share of a user, see {@link dev.evenkeel.bus.share.FairShare}. */
  double weight(String user) {
    return weights.applyAsDouble(user);
  }

  Topics topics() {
    return view.topics();
  }

  /**
   * The assignor of that name. If it is not known, that of {@link GroupInfo#ASSIGNOR_DEFAULT}:
   * another node may have more assignors, and have let the group ask for one of those.
   */
  Assignor assignor(String name) {
    Assignor assignor = assignors.apply(name);
    return assignor == null ? assignors.apply(GroupInfo.ASSIGNOR_DEFAULT) : assignor;
  }

  // ---- Groups

  /** The group, or null if it was never heard of. */
  GroupState get(String name) {
    return groups.get(name);
  }

  /** The group; created if it is unknown. */
  GroupState make(String name) {
    return groups.computeIfAbsent(name, fresh -> new GroupState(fresh, this));
  }

  /**
   * Whether this object still stands for the group. It does not after the group was forgotten, even
   * if it was created again.
   */
  boolean has(GroupState group) {
    return groups.get(group.name()) == group;
  }

  /** All groups that this dispatcher has heard of, by name. */
  Collection<GroupState> groups() {
    return groups.values();
  }

  void remove(String name) {
    groups.remove(name);
    dirty.windowOver(name);
  }

  /** A group that is declared or has members, or null. */
  GroupState find(String name) {
    GroupState group = groups.get(name);
    return group == null || !isFound(group) ? null : group;
  }

  private static boolean isFound(GroupState group) {
    return group.info() != null || !group.members().isEmpty();
  }

  /** All that {@link #find} finds, by name. */
  List<GroupState> found() {
    List<GroupState> found = new ArrayList<>(groups.values());
    found.removeIf(group -> !isFound(group));
    return found;
  }

  /**
   * Those of {@link #found} that are in a scope, by name. It takes no longer if there are others.
   */
  List<GroupState> found(GroupScope scope) {
    return scope.named(groups).stream().filter(DispatcherState::isFound).toList();
  }

  // ---- Ends of shards

  void read(List<ShardStatus> statuses) {
    statuses.forEach(status -> ends.put(status.shard(), status.endOffset()));
  }

  /** Whether the leader of a shard has told of it. */
  boolean isRead(Shard shard) {
    return ends.containsKey(shard);
  }

  /** Drops the ends of shards that are gone. */
  void topicsChanged(Topics.Change change) {
    change.gone().keySet().forEach(ends::remove);
  }

  /**
   * Messages of a shard that a group has not committed; null if that is unknown.
   *
   * @param lease of the group, or null if it has none
   */
  Long lag(Shard shard, Lease lease) {
    Long end = ends.get(shard);
    return end == null || lease == null ? null : (Long) Math.max(0, end - lease.committed());
  }
}
