package dev.evenkeel.assign;

import dev.evenkeel.model.Shard;
import java.util.Map;

/**
 * What a planning step came to.
 *
 * @param status of the group as the snapshot shows it, before the plan is carried out
 * @param targets an owner for each shard that a member subscribes to
 * @param moves how many shards the plan takes from an owner that lives to give them to another
 */
public record Plan(GroupStatus status, Map<Shard, String> targets, int moves) {
  public Plan {
    targets = Map.copyOf(targets);
  }
}
