package dev.evenkeel.assign;

import dev.evenkeel.protocol.Shard;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** A group as the planner sees it: its roster, and the cohorts of its members. */
record PlannedGroup(Roster roster, Cohorts cohorts) {

  /**
   * @param exactArcsMax up to so many pairs of a member and its topic, each member is a cohort of
   *     its own
   */
  static PlannedGroup of(Snapshot snapshot, int exactArcsMax) {
    Roster roster = Roster.of(snapshot);
    Cohorts cohorts = Cohorts.bySubscription(roster);
    long arcs = 0;
    for (int[] topics : roster.topicsOf) {
      arcs += topics.length;
    }
    // A single cohort is exact as it is.
    if (cohorts.count() > 1 && arcs <= exactArcsMax) {
      cohorts = Cohorts.apart(roster);
    }
    return new PlannedGroup(roster, cohorts);
  }

  /** The status by the sticky assignor's idea of even. */
  GroupStatus status() {
    return status(this::isLevel);
  }

  /**
   * @param balanced whether all shards, each with an owner, are to stay with these
   */
  GroupStatus status(BooleanSupplier balanced) {
    int[] loads = roster.loads();
    boolean idle = false;
    for (int m = 0; m < loads.length; m++) {
      idle |= loads[m] == 0 && cohorts.of[m] != Roster.NOBODY;
    }
    for (int owner : roster.owner) {
      if (owner == Roster.NOBODY) {
        return idle
            ? GroupStatus.UNASSIGNED_SHARD_WITH_CONSUMER_IDLE_EXISTS
            : GroupStatus.UNASSIGNED_SHARD_WITHOUT_CONSUMER_IDLE_EXISTS;
      }
    }
    if (balanced.getAsBoolean()) {
      return GroupStatus.OK;
    }
    return idle
        ? GroupStatus.HEAVY_LOAD_WITH_CONSUMER_IDLE_BALANCE_NEEDED
        : GroupStatus.HEAVY_LOAD_BALANCE_NEEDED;
  }

  /**
   * Whether no shard could move to a subscriber that owns at least two fewer than its owner, be it
   * in a chain: a shard to another subscriber, which gives one of its own to a third.
   */
  private boolean isLevel() {
    int[] loads = roster.loads();
    for (int[] members : cohorts.members) {
      int least = Integer.MAX_VALUE;
      int most = 0;
      for (int member : members) {
        least = Math.min(least, loads[member]);
        most = Math.max(most, loads[member]);
      }
      if (most - least >= 2) {
        return false;
      }
    }
    // Members of a cohort that differ by one can pass shards on to each other without getting less
    // level, so that chains between cohorts are all that is left.
    return cohorts.count() < 2 || !new Levelling(flow()).canLevel();
  }

  Flow flow() {
    return new Flow(roster, cohorts);
  }

  /** The owner of each shard by a flow. */
  int[] owners(Flow flow) {
    int[] owners = new int[roster.shards.length];
    CohortAssignment.all(roster, cohorts, Transfer.cohorts(roster, cohorts, flow), owners);
    return owners;
  }

  Map<Shard, String> named(int[] owners) {
    Map<Shard, String> targets = new HashMap<>(owners.length * 2);
    for (int s = 0; s < owners.length; s++) {
      targets.put(roster.shards[s], roster.members[owners[s]]);
    }
    return targets;
  }
}
