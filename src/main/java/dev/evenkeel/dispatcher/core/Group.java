package dev.evenkeel.dispatcher.core;

import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** A group with what moves its shards. */
record Group(GroupState state, GroupPlan plan) {

  /**
   * Runs of members have ended: their shards are planned anew. Who is waited for after its death
   * stays in the registry until then, so that another dispatcher would wait for it, too.
   */
  void ended(List<MemberTable.Ended> ended, Outbox out, long nowMillis) {
    for (MemberTable.Ended each : ended) {
      state.cause = each.cause();
      if (state.members().live(each.name()) == null) {
        state.forgetGiven(each.name());
        state.awaited.put(each.name(), each.instance());
      }
    }
    unregister(out, nowMillis);
    if (!ended.isEmpty()) {
      plan.retarget();
    }
  }

  private void unregister(Outbox out, long nowMillis) {
    Iterator<Map.Entry<String, String>> each = state.awaited.entrySet().iterator();
    while (each.hasNext()) {
      Map.Entry<String, String> run = each.next();
      if (state.members().live(run.getKey()) != null) {
        // A run of this name has the entry.
        each.remove();
      } else if (nowMillis >= state.lockedUntilMillis(run.getValue())) {
        out.add(new DispatcherAction.Unregister(state.name(), run.getKey()));
        each.remove();
      }
    }
  }
}
