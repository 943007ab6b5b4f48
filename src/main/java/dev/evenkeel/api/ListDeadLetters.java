package dev.evenkeel.api;

import org.jspecify.annotations.Nullable;

/**
 * Dead letters: messages whose attempts have all failed, by topic, shard and offset. A group that
 * does not exist has none.
 *
 * @param group name of the group
 * @param after only those after this one: topic/shard/offset
 * @param limit most dead letters
 */
public record ListDeadLetters(
    String group,
    @Nullable String after,
    @Bounds(min = 1, max = 1_000) @Default("100") int limit) {}
