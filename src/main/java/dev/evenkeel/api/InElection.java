package dev.evenkeel.api;

import org.jspecify.annotations.Nullable;

/**
 * The candidate that a question is about.
 *
 * @param election name of the election
 * @param candidate the candidate, as it was opened
 * @param user who asks: only the one who opened it may; null: the cluster has no users
 */
public record InElection(String election, String candidate, @Caller @Nullable String user) {}
