package dev.evenkeel.assign;

import dev.evenkeel.protocol.Shard;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** One step of planning: how the group stands, and who shall own what. */
public final class Planner {
  private Planner() {}

  /**
   * How the shards are owned, compared with a plan. A shard counts as unassigned if no subscriber
   * owns it. One that nobody subscribes to and nobody owns does so, too, and no idle consumer could
   * take it.
   *
   * @param targets owners as planned; shards that it does not name are to stay
   */
  public static GroupStatus status(Snapshot snapshot, Map<Shard, String> targets) {
    GroupStatus status = GroupView.of(snapshot, 0).status(() -> moves(snapshot, targets) == 0);
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
   * Plans with an assignor, without asking for the {@link #status}; with {@link StickyAssignor} if
   * that one fails or its answer breaks the contract, and then {@link Plan#problem} says why.
   */
  public static Plan plan(Snapshot snapshot, Assignor assignor) {
    Checked.Answer answer = Checked.assign(assignor, snapshot);
    return new Plan(answer.targets(), moves(snapshot, answer.targets()), answer.problem());
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
