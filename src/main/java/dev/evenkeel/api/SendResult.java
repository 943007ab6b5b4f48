package dev.evenkeel.api;

import org.jspecify.annotations.Nullable;

/**
 * Of a message that was sent: its shard and offset. Of one that failed: error and message.
 *
 * @param error a word for programs
 * @param message one line for people
 */
public record SendResult(
    @Inline @Nullable Position position,
    @LeftOut @Nullable String error,
    @LeftOut @Nullable String message) {}
