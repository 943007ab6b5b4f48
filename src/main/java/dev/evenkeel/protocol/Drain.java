package dev.evenkeel.protocol;

/**
 * A handover in progress.
 *
 * @param to the member that gets the shard next; empty: any member may
 * @param deadlineMillis when the shard is granted even without a release, in milliseconds since
 *     1970
 */
public record Drain(String to, long deadlineMillis) {}
