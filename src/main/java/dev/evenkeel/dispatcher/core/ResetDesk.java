package dev.evenkeel.dispatcher.core;

import dev.evenkeel.model.Lease;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.Shard;
import dev.evenkeel.model.StartAt;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Takes requests to reset groups, and answers each when all its shards are reset, when one is
 * refused, or after {@link #PATIENCE_MILLIS}; what is not done then goes on, for as long as this
 * dispatcher is the active one.
 */
final class ResetDesk {
  /** How long a request waits for owners to let go before it is told which have not. */
  static final long PATIENCE_MILLIS = 20_000;

  /** Requests that wait. */
  static final int REQUESTS_MAX = 100;

  private static final class Pending {
    final Map<Shard, Lease> done = new LinkedHashMap<>();
    final long untilMillis;

    Pending(List<Shard> shards, long untilMillis) {
      shards.forEach(shard -> done.put(shard, null));
      this.untilMillis = untilMillis;
    }
  }

  private final Groups groups;
  private final TopicView view;
  private final Outbox out;
  private final Map<Long, Pending> pending = new LinkedHashMap<>();

  ResetDesk(Groups groups, TopicView view, Outbox out) {
    this.groups = groups;
    this.view = view;
    this.out = out;
  }

  /** Begins with a request; it is answered by {@link Action.ResetDone} or {@link Action.Refuse}. */
  void ask(
      long request, String name, List<Shard> shards, StartAt to, boolean force, long nowMillis) {
    Group group = groups.get(name);
    if (group == null || group.state().info() == null) {
      out.refuse(request, Refusal.UNKNOWN_GROUP, "there is no group '" + name + "'");
      return;
    }
    GroupState state = group.state();
    if (pending.size() >= REQUESTS_MAX || state.resets().any(shards)) {
      out.refuse(request, Refusal.OVERLOADED, "another reset is under way: try again later");
      return;
    }
    for (Shard shard : shards) {
      if (!view.topics().has(shard)) {
        out.refuse(request, Refusal.UNKNOWN_SHARD, "there is no shard " + shard);
        return;
      }
      ShardStep.Owner owner = state.owner(state.book().get(shard));
      boolean owned = owner == ShardStep.Owner.ALIVE || owner == ShardStep.Owner.UNHEARD;
      if (owned && !force && !state.memberless()) {
        out.refuse(request, Refusal.GROUP_ACTIVE, owned(state, shard));
        return;
      }
    }
    pending.put(request, new Pending(shards, nowMillis + PATIENCE_MILLIS));
    ShardResets.Wish wish = new ShardResets.Wish(request, to, force || state.memberless());
    shards.forEach(shard -> state.resets().ask(shard, wish));
    group.plan().retarget();
  }

  private String owned(GroupState state, Shard shard) {
    return "'"
        + state.book().get(shard).owner()
        + "' owns shard "
        + view.topics().name(shard.topicId())
        + "/"
        + shard.shard()
        + ": stop the group's consumers, or use force, which takes it from them";
  }

  /** Answers requests that are over. */
  void settle(long nowMillis) {
    if (pending.isEmpty()) {
      return;
    }
    for (Group group : groups.all()) {
      for (ShardResets.Outcome outcome : group.state().resets().take()) {
        settle(group.state(), outcome);
      }
    }
    List<Long> over = new ArrayList<>();
    pending.forEach(
        (request, each) -> {
          if (!each.done.containsValue(null) || nowMillis >= each.untilMillis) {
            over.add(request);
          }
        });
    for (long request : over) {
      out.add(new Action.ResetDone(request, pending.remove(request).done));
    }
  }

  private void settle(GroupState state, ShardResets.Outcome outcome) {
    Pending request = pending.get(outcome.request());
    if (request == null) {
      return;
    }
    if (outcome.lease() != null) {
      request.done.put(outcome.shard(), outcome.lease());
    } else {
      pending.remove(outcome.request());
      state.resets().giveUp(outcome.request());
      out.refuse(
          outcome.request(),
          outcome.refusal(),
          view.topics().name(outcome.shard().topicId())
              + "/"
              + outcome.shard().shard()
              + ": "
              + outcome.detail());
    }
  }

  /** Refuses what still waits. */
  void stop(Refusal refusal, String detail) {
    pending.keySet().forEach(request -> out.refuse(request, refusal, detail));
    pending.clear();
  }
}
