package dev.evenkeel.dispatcher.core;

import dev.evenkeel.assign.Assignor;
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
    Map<String, Set<Integer>> subscriptions = subscriptions(group, leavers, topics);
    List<Assignor.Member> members = new ArrayList<>();
    Set<Integer> wanted = new HashSet<>();
    subscriptions.forEach(
        (name, ids) -> {
          members.add(new Assignor.Member(name, ids));
          wanted.addAll(ids);
        });
    Map<Shard, String> target =
        new HashMap<>(assignor.assign(members, topics.shards(wanted), owners(group)));
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

  private static Map<Shard, String> owners(GroupState group) {
    Map<Shard, String> owners = new HashMap<>();
    for (Lease lease : group.book().all()) {
      ShardStep.Owner owner = group.owner(lease);
      if (owner == ShardStep.Owner.ALIVE || owner == ShardStep.Owner.UNHEARD) {
        owners.put(lease.shard(), lease.owner());
      }
    }
    return owners;
  }
}
