package dev.evenkeel.api;

import dev.evenkeel.protocol.Limits;

/**
 * Creates a topic.
 *
 * @param name name of the topic
 * @param shards how many shards it has
 */
@Body("NewTopic")
public record CreateTopic(
    @Bounds(max = Limits.NAME_CHARS_MAX) String name,
    @Bounds(min = 1, max = Limits.SHARDS_MAX) int shards,
    @Inline TopicLimits limits) {}
