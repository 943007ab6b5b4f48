package dev.evenkeel.client;

/**
 * What a {@link Dedup} has done since it was made, and what it has in hand.
 *
 * @param accepted claims that began at once
 * @param blocked claims that had to wait
 * @param declined claims that were declined: the work that was saved
 * @param lost claims that lost their key while they worked: another one may have worked on it at
 *     the same time
 * @param working claims that work now
 * @param waiting claims that wait now
 */
public record DedupCounts(
    long accepted, long blocked, long declined, long lost, long working, long waiting) {}
