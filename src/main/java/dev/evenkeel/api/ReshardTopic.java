package dev.evenkeel.api;

import dev.evenkeel.protocol.Limits;

/**
 * Gives a topic another number of shards. The present shards are sealed, and new ones take their
 * place. The answer comes once producers write to the new ones. A group gets a new shard when it
 * has consumed the sealed ones from which its keys come.
 *
 * @param name name of the topic
 * @param shards how many shards producers write to from then on
 */
@Body("NewShards")
public record ReshardTopic(String name, @Bounds(min = 1, max = Limits.SHARDS_MAX) int shards) {}
