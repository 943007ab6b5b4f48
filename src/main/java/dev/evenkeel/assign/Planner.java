package dev.evenkeel.assign;

/** One step of planning: how the group stands, and who shall own what. */
public final class Planner {
  private Planner() {}

  /** How evenly the shards are owned. A shard counts as unassigned if no subscriber owns it. */
  public static GroupStatus status(Snapshot snapshot) {
    return GroupView.of(snapshot, 0).status();
  }

  /**
   * Plans with an assignor; with {@link StickyAssignor} if that one fails or its answer breaks the
   * contract, and then {@link Plan#problem} says why.
   */
  public static Plan plan(Snapshot snapshot, Assignor assignor) {
    Checked.Answer answer = Checked.assign(assignor, snapshot);
    int moves = 0;
    for (Snapshot.Held held : snapshot.shards()) {
      String target = answer.targets().get(held.shard());
      if (held.owner() != null && target != null && !target.equals(held.owner())) {
        moves++;
      }
    }
    return new Plan(status(snapshot), answer.targets(), moves, answer.problem());
  }
}
