package dev.evenkeel.assign;

import dev.evenkeel.protocol.Shard;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The result of a planning step.
 *
 * @param targets an owner for each shard that a member subscribes to
 * @param moves how many shards the plan takes from an owner that lives to give them to another
 * @param problem why the plan is not the asked assignor's but {@link StickyAssignor}'s: one line;
 *     null if it is the asked one's
 */
public record Plan(Map<Shard, String> targets, int moves, @Nullable String problem) {
  public Plan {
    // Not Map.copyOf: it probes one place after another, and hashes of shards lie close together.
    targets = Collections.unmodifiableMap(new HashMap<>(targets));
  }
}
