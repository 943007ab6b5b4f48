package dev.evenkeel.dispatcher.core;

import dev.evenkeel.assign.Assignor;
import dev.evenkeel.assign.Snapshot;
import dev.evenkeel.model.Lease;
import dev.evenkeel.model.Shard;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Makes the plan of one group: who shall own which shard, given who is there. Changes nothing. */
final class Targets {
  private Targets() {}

  /**
   * @return an owner for each shard that a member wants, be it one that was not heard yet
   */
  static Map<Shard, String> of(
      GroupState group, Leavers leavers, Topics topics, Assignor assignor) {
    Map<Shard, String> target = new HashMap<>(assignor.assign(snapshot(group, leavers, topics)));
    // Who is about to leave keeps, until then, what nobody else wants.
    for (Member member : group.members().live()) {
      if (leavers.include(member)) {
        for (Shard shard : group.book().ownedBy(member.instance())) {
          target.putIfAbsent(shard, member.name());
        }
      }
    }
    return target;
  }

  private static Snapshot snapshot(GroupState group, Leavers leavers, Topics topics) {
    List<Snapshot.Member> members = new ArrayList<>();
    Set<Integer> wanted = new HashSet<>();
    subscriptions(group, leavers, topics)
        .forEach(
            (name, ids) -> {
              members.add(new Snapshot.Member(name, ids));
              wanted.addAll(ids);
            });
    List<Snapshot.Held> held = new ArrayList<>();
    for (Shard shard : topics.shards(wanted)) {
      held.add(held(group, shard));
    }
    return new Snapshot(members, held);
  }

  private static Snapshot.Held held(GroupState group, Shard shard) {
    Lease lease = group.book().get(shard);
    ShardStep.Owner owner = group.owner(lease);
    boolean owned = owner == ShardStep.Owner.ALIVE || owner == ShardStep.Owner.UNHEARD;
    String heir = lease == null || lease.drain() == null ? "" : lease.drain().to();
    return new Snapshot.Held(
        shard, owned ? lease.owner() : null, heir.isEmpty() ? null : heir, null);
  }

  /** Numbers of the topics that each member reads, by its name. */
  private static Map<String, Set<Integer>> subscriptions(
      GroupState group, Leavers leavers, Topics topics) {
    Map<String, Set<Integer>> subscriptions = new TreeMap<>();
    for (Ghost ghost : group.members().ghosts()) {
      Set<Integer> ids = topics.ids(ghost.topics() == null ? group.topicNames() : ghost.topics());
      subscriptions.computeIfAbsent(ghost.name(), name -> new HashSet<>()).addAll(ids);
    }
    for (Member member : group.members().live()) {
      if (leavers.include(member)) {
        subscriptions.remove(member.name());
      } else {
        subscriptions.put(member.name(), topics.ids(member.beat().topics()));
      }
    }
    return subscriptions;
  }
}
