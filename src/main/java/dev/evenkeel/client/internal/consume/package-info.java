/**
 * What a consumer decides: events and the time come in, actions and messages to handle go out. It
 * has no clock, no I/O and no Vert.x.
 *
 * <p>Begin with {@code ConsumerCore}. {@code OwnedShard} is the state machine of one owned shard.
 */
package dev.evenkeel.client.internal.consume;
