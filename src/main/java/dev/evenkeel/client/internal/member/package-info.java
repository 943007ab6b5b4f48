/**
 * A consumer as a member of its group: it sends heartbeats, fetches, runs handlers, commits, and
 * hands shards over.
 *
 * <p>{@link dev.evenkeel.client.internal.member.Consumers} starts one. The decisions are in {@code
 * consume}; ConsumerShell carries them out, with ActionRunner, HeartbeatLoop and ShardCalls.
 */
package dev.evenkeel.client.internal.member;
