package dev.evenkeel.api;

import org.jspecify.annotations.Nullable;

/**
 * Asks whether a candidate leads. The answer comes when it differs from what the caller knows, or
 * when the time to wait is over. The candidate does not expire while a request waits.
 *
 * @param waitMs how long it waits if nothing has changed, in milliseconds
 * @param term the term at which the candidate leads or hands over, as far as the caller knows; if
 *     it is left out: it does neither
 * @param handingOver whether the caller knows that the candidate hands over
 */
public record WatchCandidate(
    @Inline InElection in,
    @Bounds(min = 0, max = 15_000) @Default("15000") int waitMs,
    @Nullable Long term,
    @Default("false") boolean handingOver) {}
