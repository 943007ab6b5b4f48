package dev.evenkeel.log;

import java.util.Map;

/**
 * The status of one log group as this node sees it.
 *
 * @param group name of the group
 * @param leadership who leads it
 * @param commitIndex last entry known to be on a majority, or -1
 * @param appliedIndex last entry applied here, or -1
 * @param matchIndex on the leader: node id of each follower and the last entry it is known to have;
 *     elsewhere empty
 * @param pendingEntries entries appended here and not answered yet
 * @param pendingBytes their size
 */
public record LogStatus(
    String group,
    Leadership leadership,
    long commitIndex,
    long appliedIndex,
    Map<String, Long> matchIndex,
    int pendingEntries,
    long pendingBytes) {}
