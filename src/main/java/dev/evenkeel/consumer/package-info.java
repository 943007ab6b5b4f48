/**
 * Consumers: members of a group that pull their shards, hand messages out, commit, and hand shards
 * over.
 *
 * <p>{@link dev.evenkeel.consumer.Consumers} starts one. The decisions are in {@code core};
 * ConsumerShell, ActionRunner, HeartbeatLoop and ShardCalls carry them out. It imports {@code
 * model}, {@code wire}, {@code bus} and {@code cluster}.
 */
package dev.evenkeel.consumer;
