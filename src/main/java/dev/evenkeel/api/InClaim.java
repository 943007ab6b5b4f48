package dev.evenkeel.api;

import org.jspecify.annotations.Nullable;

/**
 * The claim that a question is about.
 *
 * @param dedup name of the dedup
 * @param claim the claim, as it was made
 * @param user who asks: only the one who made it may; null: the cluster has no users
 */
public record InClaim(String dedup, String claim, @Caller @Nullable String user) {}
