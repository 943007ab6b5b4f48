package dev.evenkeel.dispatcher.core;

import dev.evenkeel.assign.Assignor;
import dev.evenkeel.assign.Election;
import dev.evenkeel.assign.GroupStatus;
import dev.evenkeel.assign.Planner;
import dev.evenkeel.assign.Snapshot;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The plan of one group: which member is to own which shard.
 *
 * <p>Members that are passed over because they are stuck keep, of the topics that others read too,
 * what they are not stuck on, up to an even share, and get nothing more; what they are stuck on is
 * taken from them. Of topics that nobody else reads, or if all are stuck, they own as if they were
 * not. What a member ignores is taken from it in any case, and may be given to it again.
 *
 * @param owners of each shard that a member wants, be it a member that was not heard yet
 * @param taken shards that are taken from a live owner without waiting, with the epoch that it has
 */
record Targets(Map<Shard, String> owners, Map<Shard, Long> taken) {

  /** Before the first plan. */
  static Targets none() {
    return new Targets(Map.of(), Map.of());
  }

  static Targets of(GroupState group, Topics topics, Assignor assignor) {
    Draft draft = draft(group, topics);
    return draft.with(draft.plan(assignor), group, topics);
  }

  /** Decides everything but what assignors do. */
  static Draft draft(GroupState group, Topics topics) {
    if (group.ownsNothing()) {
      return Draft.done(none());
    }
    if (group.ownedAsAWhole()) {
      return Draft.done(new Targets(whole(group, topics), Map.of()));
    }
    if (group.leading().applies()) {
      Targets all = group.leading().targets(topics);
      all.taken().putAll(abandoned(group));
      keepUntilTheyLeave(group, all.owners());
      return Draft.done(all);
    }
    Map<String, Set<Integer>> readers = subscriptions(group, topics);
    Map<Shard, String> kept = awaited(group, topics);
    Map<Shard, Long> taken = abandoned(group);
    // Those passed over may have left a moment ago.
    if (group.stuck().anyPassedOver() && !readers.isEmpty()) {
      passOver(group, topics, readers, kept, taken);
    }
    Map<Shard, String> owners = new HashMap<>();
    List<Shard> sealed = new ArrayList<>();
    List<Shard> open = new ArrayList<>();
    for (Shard shard : topics.shards(all(readers))) {
      if (!kept.containsKey(shard)) {
        (topics.isSealed(shard) ? sealed : open).add(shard);
      }
    }
    List<Shard> planned = planned(group, topics, readers, sealed, taken.keySet(), owners);
    return new Draft(
        new Targets(owners, taken),
        kept,
        planned.isEmpty() ? null : snapshot(group, readers, planned, taken.keySet()),
        snapshot(group, readers, open, taken.keySet()));
  }

  /**
   * A plan of which the part is left that takes long.
   *
   * @param begun what is decided already
   * @param kept what stays with its owners, whatever is planned
   * @param sealed the sealed shards to plan for; null: none
   * @param open the others; null: {@code begun} is all
   */
  record Draft(Targets begun, Map<Shard, String> kept, Snapshot sealed, Snapshot open) {
    private static Draft done(Targets all) {
      return new Draft(all, Map.of(), null, null);
    }

    /** How many members and shards there are to plan for. */
    int size() {
      return open == null ? 0 : open.members().size() + open.shards().size();
    }

    /** The part that takes long: it may be called from any thread. */
    List<Map<Shard, String>> plan(Assignor assignor) {
      List<Map<Shard, String>> planned = new ArrayList<>();
      for (Snapshot part : Arrays.asList(sealed, open)) {
        if (part != null) {
          planned.add(assignor.assign(part));
        }
      }
      return planned;
    }

    /** The whole plan, with what {@link #plan} has returned. */
    Targets with(List<Map<Shard, String>> planned, GroupState group, Topics topics) {
      if (open == null) {
        return begun;
      }
      Map<Shard, String> owners = begun.owners();
      planned.forEach(owners::putAll);
      // Those that wait for sealed ones have their places in the plan, so that nothing has to move
      // again when they can be granted.
      owners.keySet().removeIf(shard -> !group.isReady(shard, topics));
      owners.putAll(kept);
      keepUntilTheyLeave(group, owners);
      return begun;
    }
  }

  /** Shards that wait for the next run of their last owner. It gets nothing more before that. */
  private static Map<Shard, String> awaited(GroupState group, Topics topics) {
    Map<Shard, String> awaited = new HashMap<>();
    for (ShardState state : group.shards().states()) {
      String owner = state.formerOwner();
      if (owner != null
          && waitsFor(group, owner)
          && topics.has(state.shard)
          && group.isReady(state.shard, topics)) {
        awaited.put(state.shard, owner);
      }
    }
    return awaited;
  }

  /** Whether a member has ended or closes, and another run of it may come. */
  private static boolean waitsFor(GroupState group, String name) {
    Member member = group.members().live(name);
    return member == null
        ? group.members().isAbsent(name)
        : member.beat().wishes().graceMillis() > 0 && group.departing().include(member);
  }

  /** Shards that live members own and ignore, with their epochs. */
  private static Map<Shard, Long> abandoned(GroupState group) {
    Map<Shard, Long> taken = new HashMap<>();
    for (Member member : group.members().live()) {
      if (group.stuck().stuck(member.instance())) {
        for (Shard shard : group.shards().ownedBy(member.instance())) {
          long epoch = group.shards().get(shard).epoch();
          if (group.stuck().abandoned(member.instance(), shard, epoch)) {
            taken.put(shard, epoch);
          }
        }
      }
    }
    return taken;
  }

  /** A member that is about to leave keeps, until then, what nobody else wants. */
  private static void keepUntilTheyLeave(GroupState group, Map<Shard, String> owners) {
    for (Member member : group.members().live()) {
      if (group.departing().include(member)) {
        for (Shard shard : group.shards().ownedBy(member.instance())) {
          owners.putIfAbsent(shard, member.name());
        }
      }
    }
  }

  /** All to the holder, as soon as it holds the group's lease. */
  private static Map<Shard, String> whole(GroupState group, Topics topics) {
    Map<Shard, String> owners = new HashMap<>();
    if (group.holder() != null && group.holderTerm() > 0) {
      group
          .ready(topics.ids(group.topicNames()), topics)
          .forEach(shard -> owners.put(shard, group.holder().name()));
    }
    return owners;
  }

  /** How all shards of the group are owned, compared with its plan; also those nobody reads. */
  static GroupStatus status(GroupState group, Topics topics) {
    if (group.ownsNothing()) {
      return GroupStatus.OK;
    }
    List<Snapshot.Held> held = new ArrayList<>();
    group
        .ready(topics.ids(group.topicNames()), topics)
        .forEach(shard -> held.add(held(group, shard, false)));
    Snapshot snapshot = new Snapshot(members(subscriptions(group, topics)), held);
    return Planner.status(snapshot, group.plan().targets().owners());
  }

  /**
   * @param readers loses the topics of members that are passed over and others read
   * @param kept gets what they keep
   * @param taken gets what they lose at once
   */
  private static void passOver(
      GroupState group,
      Topics topics,
      Map<String, Set<Integer>> readers,
      Map<Shard, String> kept,
      Map<Shard, Long> taken) {
    List<Member> passed = new ArrayList<>();
    Set<Integer> served = new HashSet<>();
    readers.forEach(
        (name, ids) -> {
          Member member = group.members().live(name);
          if (member != null && group.stuck().passedOver(member.instance())) {
            passed.add(member);
          } else if (member == null || !group.stuck().stuck(member.instance())) {
            served.addAll(ids);
          }
        });
    int shareMax = -Math.floorDiv(-group.ready(served, topics).size(), readers.size());
    for (Member member : passed) {
      Set<Integer> alone = new HashSet<>(readers.get(member.name()));
      alone.removeAll(served);
      readers.put(member.name(), alone);
      if (alone.isEmpty()) {
        readers.remove(member.name());
      }
      int share = 0;
      for (Shard shard : group.shards().ownedBy(member.instance())) {
        Lease lease = group.shards().get(shard);
        if (taken.containsKey(shard) || !served.contains(shard.topicId())) {
          continue;
        }
        if (group.stuck().overdue(member.instance(), shard, lease.epoch())) {
          taken.put(shard, lease.epoch());
        } else if (lease.drain() == null
            && share < shareMax
            && member.topics().contains(topics.name(shard.topicId()))) {
          kept.put(shard, member.name());
          share++;
        }
      }
    }
  }

  /**
   * Sealed shards are planned apart from the others: they come to an end. As long as only that
   * happens, each stays with its owner.
   *
   * @param owners gets those that stay
   * @return those to plan for
   */
  private static List<Shard> planned(
      GroupState group,
      Topics topics,
      Map<String, Set<Integer>> readers,
      List<Shard> sealed,
      Set<Shard> taken,
      Map<Shard, String> owners) {
    List<Shard> planned = new ArrayList<>();
    for (Shard shard : sealed) {
      Lease lease = group.shards().get(shard);
      boolean stays =
          group.cause() == Cause.TOPIC
              && !taken.contains(shard)
              && group.owner(lease) == ShardStep.Owner.ALIVE
              && readers.getOrDefault(lease.owner(), Set.of()).contains(shard.topicId());
      if (stays) {
        owners.put(shard, lease.owner());
      } else if (group.isReady(shard, topics)) {
        planned.add(shard);
      }
    }
    return planned;
  }

  private static Set<Integer> all(Map<String, Set<Integer>> readers) {
    Set<Integer> wanted = new HashSet<>();
    readers.values().forEach(wanted::addAll);
    return wanted;
  }

  private static Snapshot snapshot(
      GroupState group, Map<String, Set<Integer>> readers, List<Shard> shards, Set<Shard> taken) {
    List<Snapshot.Held> held =
        shards.stream().map(shard -> held(group, shard, taken.contains(shard))).toList();
    return new Snapshot(members(readers), held);
  }

  private static List<Snapshot.Member> members(Map<String, Set<Integer>> readers) {
    List<Snapshot.Member> members = new ArrayList<>();
    readers.forEach((name, ids) -> members.add(new Snapshot.Member(name, ids)));
    return members;
  }

  private static Snapshot.Held held(GroupState group, Shard shard, boolean taken) {
    ShardState known = group.shards().known(shard);
    if (known == null) {
      return new Snapshot.Held(shard, null, null, null);
    }
    Lease lease = known.lease();
    boolean owned = group.owner(lease).lives();
    String heir = lease == null || lease.drain() == null ? "" : lease.drain().to();
    return new Snapshot.Held(
        shard,
        owned && !taken ? lease.owner() : expected(group, known),
        heir.isEmpty() ? null : heir,
        group.lag(shard),
        known.work().work());
  }

  /** Who gets a shard that nobody owns, if that is decided or the last owner may come back. */
  private static String expected(GroupState group, ShardState shard) {
    if (shard.grantee() != null) {
      return shard.grantee();
    }
    Member former = shard.formerOwner() == null ? null : group.members().live(shard.formerOwner());
    return former != null && former.beat().wishes().graceMillis() > 0 ? former.name() : null;
  }

  /** Numbers of the topics that each member reads, by its name. */
  private static Map<String, Set<Integer>> subscriptions(GroupState group, Topics topics) {
    Map<String, Set<Integer>> subscriptions = new TreeMap<>();
    if (group.ownedAsAWhole()) {
      if (group.holder() != null) {
        subscriptions.put(group.holder().name(), topics.ids(group.topicNames()));
      }
      return subscriptions;
    }
    if (group.leading().applies()) {
      Election.Candidate elected = group.leading().elected();
      if (elected != null) {
        subscriptions.put(elected.name(), topics.ids(group.topicNames()));
      }
      return subscriptions;
    }
    Set<Integer> all = group.settled() ? Set.of() : topics.ids(group.topicNames());
    for (UnheardMember run : group.members().unheard()) {
      Set<Integer> ids = run.topics() == null ? all : topics.ids(topics.named(run.topics(), null));
      subscriptions.computeIfAbsent(run.name(), name -> new HashSet<>()).addAll(ids);
    }
    // Members most often read the same topics, by the same set.
    Map<Set<String>, Set<Integer>> known = new IdentityHashMap<>();
    for (Member member : group.members().live()) {
      if (group.departing().include(member)) {
        subscriptions.remove(member.name());
      } else {
        subscriptions.put(
            member.name(), known.computeIfAbsent(member.topics(), names -> topics.ids(names)));
      }
    }
    return subscriptions;
  }
}
