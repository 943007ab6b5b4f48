package dev.evenkeel.client;

import io.vertx.core.buffer.Buffer;

/**
 * The state that a sealed shard has left to the shards which have taken its place.
 *
 * @param shard number of the sealed shard
 * @param state what its last owner gave, never empty
 * @param heir whether this shard is the one, of all that get this state, that answers for what
 *     belongs to no key, such as a sum over all messages
 */
public record ParentState(int shard, Buffer state, boolean heir) {}
