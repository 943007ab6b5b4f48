package dev.evenkeel.api;

import org.jspecify.annotations.Nullable;

/**
 * Joins an election, and opens a candidate that may come to lead it.
 *
 * @param election name of the election: that of a group without topics
 * @param member name of the candidate among the others; a generated name if it is left out
 * @param expiresMs how long the candidate stays after the end of its last request. Then it expires,
 *     and another one leads
 * @param lockTimeMillis how long the next leader waits at most until this candidate has handed over
 * @param user whose candidate it is; null: the cluster has no users
 */
@Body("NewCandidate")
public record OpenCandidate(
    String election,
    @Nullable String member,
    @Bounds(min = 5_000, max = 600_000) @Default("30000") int expiresMs,
    @Bounds(min = 0, max = 3_600_000) @Default("50000") long lockTimeMillis,
    @Caller @Nullable String user) {
  /** The candidate. */
  public record OpenedCandidate(String candidate, String member, int expiresMs) {}
}
