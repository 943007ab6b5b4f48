package dev.evenkeel.api;

/**
 * Has a candidate hand over, if it leads at that term: another candidate leads next, or this one at
 * a higher term if there is no other.
 *
 * @param term at which it leads
 */
@Body("Resignation")
public record ResignCandidate(@Inline InElection in, long term) {}
