package dev.evenkeel.api;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message that waits until it is due.
 *
 * @param id names the message until it is delivered
 * @param deliverAt when it is due, milliseconds since 1970
 * @param due the same time as text
 * @param headers text, or bytes as Base64
 * @param timestamp milliseconds since 1970
 * @param unreadable why the message cannot be read; then key, payload and timestamp are null
 */
public record DelayedMessageView(
    String id,
    int shard,
    long deliverAt,
    Instant due,
    @Nullable TextOrBytes key,
    @Nullable TextOrBytes payload,
    @Nullable Long timestamp,
    Map<String, TextOrBytes> headers,
    @LeftOut @Nullable String unreadable) {}
