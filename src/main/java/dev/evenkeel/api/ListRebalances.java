package dev.evenkeel.api;

import dev.evenkeel.protocol.Limits;
import org.jspecify.annotations.Nullable;

/**
 * Recent moves of shards, newest first, also of former dispatchers. Lists the moves of the groups
 * that the user may see. With a group, needs view:GROUP, group:GROUP or admin:GROUP.
 *
 * @param group moves of this group only
 * @param limit most moves; all that are kept if left out
 */
public record ListRebalances(
    @Nullable String group,
    @Bounds(min = 1, max = Limits.MOVES_KEPT_MAX) @Default("2000") int limit) {}
