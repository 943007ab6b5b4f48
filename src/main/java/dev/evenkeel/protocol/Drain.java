package dev.evenkeel.protocol;

/**
 * A hand-over under way.
 *
 * @param to the member that gets the shard next; empty if any may
 * @param deadlineMillis when the shard is granted even without a release, in milliseconds since
 *     1970
 */
public record Drain(String to, long deadlineMillis) {}
