/**
 * A consumer as a member of its group: it sends heartbeats, fetches, runs handlers, commits, and
 * hands shards over.
 *
 * <p>Begin with {@link dev.evenkeel.client.internal.member.Consumers}, which starts one. The
 * decisions are in {@code consume}; {@code ConsumerShell} carries them out.
 */
package dev.evenkeel.client.internal.member;
