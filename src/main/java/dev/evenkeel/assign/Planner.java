package dev.evenkeel.assign;

import dev.evenkeel.protocol.Shard;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Plans which member is to own which shard, and says how evenly a group is owned. */
public final class Planner {
  private static final int REASON_CHARS_MAX = 300;

  private Planner() {}

  /**
   * How the shards are owned, compared with a plan. A shard counts as unassigned if no subscriber
   * owns it. One that nobody subscribes to and nobody owns does so, too, and no idle consumer could
   * take it.
   *
   * @param targets owners as planned; shards that it does not name are to stay
   */
  public static GroupStatus status(Snapshot snapshot, Map<Shard, String> targets) {
    GroupStatus status = PlannedGroup.of(snapshot, 0).status(() -> moves(snapshot, targets) == 0);
    boolean taken = status == GroupStatus.UNASSIGNED_SHARD_WITH_CONSUMER_IDLE_EXISTS;
    return !taken && anyAbandoned(snapshot)
        ? GroupStatus.UNASSIGNED_SHARD_WITHOUT_CONSUMER_IDLE_EXISTS
        : status;
  }

  private static boolean anyAbandoned(Snapshot snapshot) {
    Set<Integer> wanted = new HashSet<>();
    snapshot.members().forEach(member -> wanted.addAll(member.topicIds()));
    for (Snapshot.Held held : snapshot.shards()) {
      if (held.owner() == null && !wanted.contains(held.shard().topicId())) {
        return true;
      }
    }
    return false;
  }

  /**
   * Plans with an assignor, without asking for the {@link #status}. The assignor may be a user's
   * own, so its answer is checked: if it throws, forgets a shard, or names somebody who may not own
   * it, the plan is {@link StickyAssignor}'s, and {@link Plan#problem} says why. Shards that nobody
   * asked for are left out of the plan. How long it takes is not judged.
   */
  public static Plan plan(Snapshot snapshot, Assignor assignor) {
    if (assignor instanceof StickyAssignor) {
      return planned(snapshot, assignor.assign(snapshot), null);
    }
    String name = assignor.getClass().getName();
    try {
      name = "assignor " + assignor.name();
      Map<Shard, String> targets = new HashMap<>();
      String problem = check(assignor.assign(snapshot), snapshot, targets);
      if (problem == null) {
        return planned(snapshot, targets, null);
      }
      return instead(snapshot, name + " " + problem);
    } catch (Exception | LinkageError | AssertionError | StackOverflowError failure) {
      return instead(snapshot, name + " failed: " + failure);
    }
  }

  private static Plan instead(Snapshot snapshot, String problem) {
    String line = problem.replaceAll("\\s+", " ");
    String cut =
        line.length() <= REASON_CHARS_MAX ? line : line.substring(0, REASON_CHARS_MAX) + "...";
    return planned(snapshot, new StickyAssignor().assign(snapshot), cut + "; planned by sticky");
  }

  private static @Nullable String check(
      @Nullable Map<Shard, String> answer, Snapshot snapshot, Map<Shard, String> targets) {
    if (answer == null) {
      return "answered null";
    }
    Map<String, Set<Integer>> subscriptions = new HashMap<>();
    Set<Integer> wanted = new HashSet<>();
    for (Snapshot.Member member : snapshot.members()) {
      subscriptions.put(member.name(), member.topicIds());
      wanted.addAll(member.topicIds());
    }
    for (Snapshot.Held held : snapshot.shards()) {
      Shard shard = held.shard();
      if (wanted.contains(shard.topicId())) {
        String target = answer.get(shard);
        if (target == null) {
          return "names no owner for shard " + shard;
        }
        Set<Integer> topicIds = subscriptions.get(target);
        if (topicIds == null) {
          return "gives shard " + shard + " to " + target + ", who is not a member";
        }
        if (!topicIds.contains(shard.topicId())) {
          return "gives shard " + shard + " to " + target + ", who does not subscribe to it";
        }
        targets.put(shard, target);
      }
    }
    return null;
  }

  private static Plan planned(
      Snapshot snapshot, Map<Shard, String> targets, @Nullable String problem) {
    return new Plan(targets, moves(snapshot, targets), problem);
  }

  private static int moves(Snapshot snapshot, Map<Shard, String> targets) {
    int moves = 0;
    for (Snapshot.Held held : snapshot.shards()) {
      String target = targets.get(held.shard());
      if (held.owner() != null && target != null && !target.equals(held.owner())) {
        moves++;
      }
    }
    return moves;
  }
}
