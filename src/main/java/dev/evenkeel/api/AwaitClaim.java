package dev.evenkeel.api;

/**
 * Says what has become of a claim, and keeps it from expiring.
 *
 * @param waitMs how long the answer may wait for the turn of the claim, in milliseconds
 */
public record AwaitClaim(
    @Inline InClaim in, @Bounds(min = 0, max = 15_000) @Default("0") int waitMs) {}
