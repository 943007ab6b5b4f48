package dev.evenkeel.api;

import dev.evenkeel.protocol.Limits;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message to be sent.
 *
 * @param headers text, or bytes as Base64
 * @param timestamp milliseconds since 1970
 * @param deliverAfterMs consumers get the message so many milliseconds from now, and not before
 * @param deliverAt the same as a time, milliseconds since 1970, at most 30 days from now; one that
 *     has passed: at once
 */
public record NewMessage(
    @Nullable TextOrBytes key,
    TextOrBytes payload,
    @Nullable Map<String, TextOrBytes> headers,
    @Bounds(min = 0, max = Long.MAX_VALUE / 2) @Nullable Long timestamp,
    @Bounds(min = 0, max = Limits.DELAY_MILLIS_MAX) @Nullable Long deliverAfterMs,
    @Bounds(min = 0) @Nullable Long deliverAt) {}
