package dev.evenkeel.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Drops dead letters for good.
 *
 * @param group name of the group
 * @param deadLetters topic/shard/offset each
 * @param all all of the group, in place of names
 * @param dryRun true: only counts them
 */
@Body("DeadLetterNames")
public record DropDeadLetters(
    String group,
    @Format(DeadLetterView.NAME) @Nullable List<String> deadLetters,
    boolean all,
    boolean dryRun) {}
