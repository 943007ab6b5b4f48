package dev.evenkeel.api;

import org.jspecify.annotations.Nullable;

/**
 * Asks for a key. One claim of a key works and one waits for its turn; further ones are declined.
 *
 * @param dedup name of the dedup
 * @param key the key, of at most 1,024 bytes in UTF-8
 * @param waitMs how long the answer may wait for the turn of the claim, in milliseconds
 * @param expiresMs how long the claim stays after the end of its last request. Then the key is
 *     given back
 * @param timeoutMs a claim that works longer loses its key, in milliseconds
 * @param user whose claim it is; null: the cluster has no users
 */
@Body("NewClaim")
public record ClaimKey(
    String dedup,
    String key,
    @Bounds(min = 0, max = 15_000) @Default("0") int waitMs,
    @Bounds(min = 5_000, max = 600_000) @Default("30000") int expiresMs,
    @Bounds(min = 1_000, max = 86_400_000) @Default("60000") long timeoutMs,
    @Caller @Nullable String user) {}
