package dev.evenkeel.api;

import org.jspecify.annotations.Nullable;

/**
 * A claim of a key.
 *
 * @param claim by which further requests name it; null if it was declined
 * @param state working: it has the key. waiting: another claim works. declined: another claim
 *     waits, which begins later than now, and this one has ended. lost: it had the key, and cannot
 *     rely on it any more
 * @param expiresMs how long it stays without a request; null if it was declined
 */
@Body("DedupClaim")
public record ClaimView(
    @Nullable String claim,
    @Words({"working", "waiting", "declined", "lost"}) String state,
    @Nullable Integer expiresMs) {}
