/**
 * What a producer decides: messages, answers and the time come in, batches and outcomes go out. It
 * has no clock, no I/O and no Vert.x.
 *
 * <p>Begin with {@code ProducerCore}; a {@code ShardBuffer} holds the batches of one shard.
 */
@NullMarked
package dev.evenkeel.client.internal.produce.core;

import org.jspecify.annotations.NullMarked;
