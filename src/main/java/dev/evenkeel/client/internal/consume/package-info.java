/**
 * What a consumer decides: events and the time come in, actions and messages to handle go out. It
 * has no clock, no I/O and no Vert.x.
 *
 * <p>Begin with {@code ConsumerCore}. {@code OwnedShard} is the state machine of one owned shard.
 * Its parts know it as a {@code ShardPort}, each with what it needs besides. They are, in the order
 * of a shard's life:
 *
 * <pre>
 * ShardTakeover   reads the lease, and calls onAssign
 * ShardFetch      fetches messages
 * ShardMessages   keeps them until their end; ShardRetries: those that the log gives out again
 * ShardHandling   hands them out to handlers, and takes what becomes of them
 * ShardFailures   decides what becomes of failed ones
 * ShardOutputs    sends what handlers publish
 * ShardCommits    commits progress
 * ShardRelease    calls onRelease, and releases the shard
 * ShardReports    what heartbeats report; ShardLog: what operators read
 * </pre>
 */
package dev.evenkeel.client.internal.consume;
