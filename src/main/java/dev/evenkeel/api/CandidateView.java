package dev.evenkeel.api;

import org.jspecify.annotations.Nullable;

/**
 * Whether a candidate leads its election.
 *
 * @param leads whether it leads for sure, now: it neither hands over nor is cut off
 * @param term the fencing token of its leadership, which only grows; null if it neither leads nor
 *     hands over
 * @param handingOver whether it must end its work at this term, and say when it has
 */
@Body("Candidate")
public record CandidateView(boolean leads, @Nullable Long term, boolean handingOver) {}
