package dev.evenkeel.dispatcher.core;

import java.util.List;

/** A group with what moves its shards. */
record Group(GroupState state, GroupPlan plan) {

  /** Runs of members have ended: their shards are planned anew. */
  void ended(List<MemberTable.Ended> ended, Outbox out) {
    for (MemberTable.Ended each : ended) {
      state.cause = each.cause();
      if (state.members().live(each.name()) == null) {
        state.forgetGiven(each.name());
        out.add(new Action.Unregister(state.name(), each.name()));
      }
    }
    if (!ended.isEmpty()) {
      plan.retarget();
    }
  }
}
