package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Takes requests to reset groups, and answers each when all its shards are reset, when one is
 * refused, or after {@link #PATIENCE_MILLIS}; what is not done then goes on, for as long as this
 * dispatcher is the active one.
 */
final class ResetHandler {
  /** How long a request waits for owners to let go before it is told which have not. */
  static final long PATIENCE_MILLIS = 20_000;

  /** Requests that wait. */
  static final int REQUESTS_MAX = 100;

  private static final class Pending {
    final GroupState group;
    final Map<Shard, Lease> done = new LinkedHashMap<>();
    final Map<Shard, String> names = new HashMap<>();
    final long untilMillis;

    Pending(GroupState group, List<Shard> shards, TopicView view, long untilMillis) {
      this.group = group;
      shards.forEach(shard -> done.put(shard, null));
      // A topic that is deleted meanwhile has no name any more.
      shards.forEach(shard -> names.put(shard, name(view, shard)));
      this.untilMillis = untilMillis;
    }
  }

  private final Groups groups;
  private final TopicView view;
  private final Outbox out;
  private final Map<Long, Pending> pending = new LinkedHashMap<>();

  ResetHandler(Groups groups, TopicView view, Outbox out) {
    this.groups = groups;
    this.view = view;
    this.out = out;
  }

  /**
   * Begins with a request; it is answered by {@link DispatcherAction.ResetDone} or {@link
   * DispatcherAction.Refuse}.
   */
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
      String owned = owned(state, shard, nowMillis);
      if (owned != null && !force && !state.memberless()) {
        out.refuse(request, Refusal.GROUP_ACTIVE, owned);
        return;
      }
    }
    pending.put(request, new Pending(state, shards, view, nowMillis + PATIENCE_MILLIS));
    ShardResets.Wish wish = new ShardResets.Wish(request, to, force || state.memberless());
    shards.forEach(shard -> state.resets().ask(shard, wish));
    group.plan().retarget();
  }

  /** Why a shard cannot be reset without force, or null. */
  private String owned(GroupState state, Shard shard, long nowMillis) {
    Lease lease = state.book().get(shard);
    return switch (state.owner(lease)) {
      case NONE -> null;
      case ALIVE, UNHEARD ->
          "'"
              + lease.owner()
              + "' owns shard "
              + name(view, shard)
              + ": stop the group's consumers, or use force, which takes it from them";
      case DEAD ->
          nowMillis >= state.lockedUntilMillis(lease)
              ? null
              : "'"
                  + lease.owner()
                  + "' was lost and has "
                  + left(state.lockedUntilMillis(lease), nowMillis)
                  + " of its crash lock time left to give shard "
                  + name(view, shard)
                  + " back: try again after that, or use force, which waits for it";
    };
  }

  /** What a shard that is to be reset waits for. */
  private static String waitsFor(GroupState state, Shard shard, long nowMillis) {
    Lease lease = state.book().get(shard);
    return switch (state.owner(lease)) {
      case NONE -> "the log has not answered yet";
      case ALIVE ->
          "'"
              + lease.owner()
              + "' lets go of it"
              + (lease.drain() == null
                  ? ""
                  : ", for " + left(lease.drain().deadlineMillis(), nowMillis) + " at most");
      case UNHEARD -> "'" + lease.owner() + "' was not heard since the dispatcher changed";
      case DEAD ->
          "'"
              + lease.owner()
              + "' was lost and has "
              + left(state.lockedUntilMillis(lease), nowMillis)
              + " of its crash lock time left to give it back";
    };
  }

  /** Whole seconds, rounded up. */
  private static String left(long untilMillis, long nowMillis) {
    return (Math.max(0, untilMillis - nowMillis) + 999) / 1_000 + " s";
  }

  private static String name(TopicView view, Shard shard) {
    return view.topics().name(shard.topicId()) + "/" + shard.shard();
  }

  /** Answers requests that are over. */
  void settle(long nowMillis) {
    if (pending.isEmpty()) {
      return;
    }
    for (Group group : groups.all()) {
      for (ShardResets.Outcome outcome : group.state().resets().take()) {
        settle(group, outcome);
      }
    }
    List<Map.Entry<Long, Pending>> lost =
        pending.entrySet().stream().filter(each -> gone(each.getValue().group)).toList();
    for (Map.Entry<Long, Pending> each : lost) {
      pending.remove(each.getKey());
      out.refuse(
          each.getKey(),
          Refusal.UNKNOWN_GROUP,
          "group '" + each.getValue().group.name() + "' was forgotten during the reset");
    }
    List<Long> over = new ArrayList<>();
    pending.forEach(
        (request, each) -> {
          if (!each.done.containsValue(null) || nowMillis >= each.untilMillis) {
            over.add(request);
          }
        });
    for (long request : over) {
      Pending each = pending.remove(request);
      each.group.resets().answered(request);
      Map<Shard, String> waits = new HashMap<>();
      each.done.forEach(
          (shard, lease) -> {
            if (lease == null) {
              waits.put(shard, waitsFor(each.group, shard, nowMillis));
            }
          });
      out.add(new DispatcherAction.ResetDone(request, each.done, waits));
    }
  }

  /** Whether the group was forgotten, and perhaps made anew. */
  private boolean gone(GroupState state) {
    Group group = groups.get(state.name());
    return group == null || group.state() != state;
  }

  private void settle(Group group, ShardResets.Outcome outcome) {
    Pending request = pending.get(outcome.request());
    if (request == null) {
      return;
    }
    if (outcome.lease() != null) {
      request.done.put(outcome.shard(), outcome.lease());
    } else {
      pending.remove(outcome.request());
      group.state().resets().giveUp(outcome.request());
      // Owners that were asked to let go for it keep their shards.
      group.plan().retarget();
      out.refuse(
          outcome.request(),
          outcome.refusal(),
          request.names.get(outcome.shard()) + ": " + outcome.detail());
    }
  }

  /** Refuses what still waits. */
  void stop(Refusal refusal, String detail) {
    pending.keySet().forEach(request -> out.refuse(request, refusal, detail));
    pending.clear();
  }
}
