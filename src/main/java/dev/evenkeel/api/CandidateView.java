package dev.evenkeel.api;

import org.jspecify.annotations.Nullable;

/**
 * Whether a candidate leads its election.
 *
 * @param leads whether it leads now
 * @param term the fencing token of its leadership, which only grows; null if it does not lead
 * @param handingOver whether it must stop its work, and say when it has
 */
@Body("Candidate")
public record CandidateView(boolean leads, @Nullable Long term, boolean handingOver) {}
