package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Answers requests to reset groups: each when all its shards are reset, when one is refused, or
 * after {@link #PATIENCE_MILLIS} milliseconds. A reset that is not done by then goes on as long as
 * this dispatcher is the active one.
 */
final class ResetHandler {
  /** How long a request waits for owners to release their shards. */
  static final long PATIENCE_MILLIS = 20_000;

  /** Requests that wait. */
  static final int REQUESTS_MAX = 100;

  private record Pending(GroupState group, GroupReset reset) {}

  private final DispatcherState state;
  private final Map<Long, Pending> pending = new LinkedHashMap<>();

  ResetHandler(DispatcherState state) {
    this.state = state;
  }

  /**
   * Takes a request. It is answered by {@link DispatcherAction.ResetDone} or {@link
   * DispatcherAction.Refuse}.
   */
  void ask(
      long request, String name, List<Shard> shards, StartAt to, boolean force, long nowMillis) {
    GroupState group = state.get(name);
    if (group == null || group.info() == null) {
      state.out.refuse(request, Refusal.UNKNOWN_GROUP, "there is no group '" + name + "'");
      return;
    }
    if (pending.size() >= REQUESTS_MAX || group.plan().resets(shards)) {
      state.out.refuse(request, Refusal.OVERLOADED, "another reset is under way: try again later");
      return;
    }
    // Only the dispatcher's own run may own shards of a group in mode level: nobody would miss
    // them.
    boolean memberless =
        group.ownedAsAWhole() && group.members().live().isEmpty() && group.settled();
    boolean forced = force || memberless;
    for (Shard shard : shards) {
      if (!state.topics().has(shard)) {
        state.out.refuse(request, Refusal.UNKNOWN_SHARD, "there is no shard " + shard);
        return;
      }
      String owned = owned(group, shard, nowMillis);
      if (owned != null && !forced) {
        state.out.refuse(request, Refusal.GROUP_ACTIVE, owned);
        return;
      }
    }
    Map<Shard, String> names = new LinkedHashMap<>();
    // A topic that is deleted meanwhile has no name any more.
    shards.forEach(shard -> names.put(shard, state.topics().name(shard)));
    GroupReset reset = new GroupReset(names, to, forced, nowMillis + PATIENCE_MILLIS);
    pending.put(request, new Pending(group, reset));
    group.plan().reset(reset);
  }

  /** Why a shard cannot be reset without force, or null. */
  private String owned(GroupState group, Shard shard, long nowMillis) {
    Lease lease = group.shards().get(shard);
    return switch (group.owner(lease)) {
      case NONE -> null;
      case ALIVE, UNHEARD ->
          "'"
              + lease.owner()
              + "' owns shard "
              + state.topics().name(shard)
              + ": stop the group's consumers, or use force, which takes it from them";
      case DEAD ->
          nowMillis >= group.lockedUntilMillis(lease)
              ? null
              : "'"
                  + lease.owner()
                  + "' was lost and has "
                  + left(group.lockedUntilMillis(lease), nowMillis)
                  + " of its crash lock time left to give shard "
                  + state.topics().name(shard)
                  + " back: try again after that, or use force, which waits for it";
    };
  }

  /** What a shard that is to be reset waits for. */
  private static String waitsFor(GroupState group, Shard shard, long nowMillis) {
    Lease lease = group.shards().get(shard);
    return switch (group.owner(lease)) {
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
              + left(group.lockedUntilMillis(lease), nowMillis)
              + " of its crash lock time left to give it back";
    };
  }

  /** Whole seconds, rounded up. */
  private static String left(long untilMillis, long nowMillis) {
    return (Math.max(0, untilMillis - nowMillis) + 999) / 1_000 + " s";
  }

  /** Answers requests that are over. */
  void settle(long nowMillis) {
    pending.entrySet().removeIf(each -> answered(each.getKey(), each.getValue(), nowMillis));
  }

  private boolean answered(long request, Pending asked, long nowMillis) {
    GroupReset reset = asked.reset();
    GroupState group = asked.group();
    if (reset.refused() != null) {
      group.plan().giveUp(reset);
      state.out.refuse(request, reset.refused().refusal(), reset.refused().detail());
    } else if (!state.has(group)) {
      state.out.refuse(
          request,
          Refusal.UNKNOWN_GROUP,
          "group '" + group.name() + "' was forgotten during the reset");
    } else if (!reset.leases().containsValue(null) || nowMillis >= reset.untilMillis) {
      Map<Shard, String> waits = new HashMap<>();
      for (Map.Entry<Shard, Lease> each : reset.leases().entrySet()) {
        if (each.getValue() == null) {
          waits.put(each.getKey(), waitsFor(group, each.getKey(), nowMillis));
        }
      }
      state.out.add(new DispatcherAction.ResetDone(request, reset.leases(), waits));
    } else {
      return false;
    }
    return true;
  }

  /** Refuses what still waits. */
  void stop(Refusal refusal, String detail) {
    pending.keySet().forEach(request -> state.out.refuse(request, refusal, detail));
    pending.clear();
  }
}
