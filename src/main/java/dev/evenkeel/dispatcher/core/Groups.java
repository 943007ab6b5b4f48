package dev.evenkeel.dispatcher.core;

import dev.evenkeel.assign.Assignor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/** All groups that this dispatcher has heard of, by name. */
final class Groups {
  private final DispatcherSettings settings;
  private final Function<String, Assignor> assignors;
  private final DirtyGroups agenda;
  private final ShardEnds ends;
  private final EndedRuns endings = new EndedRuns();
  private final KnownGroupLeases leases = new KnownGroupLeases();
  private final Map<String, Group> byName = new TreeMap<>();

  Groups(
      DispatcherSettings settings,
      Function<String, Assignor> assignors,
      DirtyGroups agenda,
      ShardEnds ends) {
    this.settings = settings;
    this.assignors = assignors;
    this.agenda = agenda;
    this.ends = ends;
  }

  /** The group, or null if it was never heard of. */
  Group get(String name) {
    return byName.get(name);
  }

  /** The group, made if need be. */
  Group make(String name) {
    return byName.computeIfAbsent(
        name,
        fresh -> {
          GroupState state = new GroupState(fresh, endings, agenda, ends, leases);
          return new Group(state, new GroupPlan(state, assignors, settings, agenda));
        });
  }

  Collection<Group> all() {
    return byName.values();
  }

  Set<String> names() {
    return new TreeSet<>(byName.keySet());
  }

  void remove(String name) {
    byName.remove(name);
    agenda.windowOver(name);
  }

  void removeBlank() {
    byName.values().removeIf(group -> group.state().blank());
  }

  /** The runs of members that have ended, in whatever group. */
  EndedRuns endings() {
    return endings;
  }

  /** The leases of whole groups. */
  KnownGroupLeases leases() {
    return leases;
  }

  /** Live members of all groups. */
  int memberCount() {
    int count = 0;
    for (Group group : byName.values()) {
      count += group.state().members().live().size();
    }
    return count;
  }

  /** A group that is declared or has members, or null. */
  GroupState find(String name) {
    Group group = byName.get(name);
    return group == null || group.state().info == null && group.state().members().isEmpty()
        ? null
        : group.state();
  }

  /** All that {@link #find} finds, by name. */
  List<GroupState> found() {
    List<GroupState> found = new ArrayList<>();
    for (String name : byName.keySet()) {
      GroupState state = find(name);
      if (state != null) {
        found.add(state);
      }
    }
    return found;
  }
}
