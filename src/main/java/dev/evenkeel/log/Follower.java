package dev.evenkeel.log;

/**
 * A follower as the leader of a log group knows it.
 *
 * @param node id of its node
 * @param matchIndex last entry that it is known to have, or -1
 * @param silentMillis since it answered last
 */
public record Follower(String node, long matchIndex, long silentMillis) {}
