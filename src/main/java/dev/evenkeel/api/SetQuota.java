package dev.evenkeel.api;

import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import org.jspecify.annotations.Nullable;

/**
 * Sets a quota. It takes the place of the quota that there was, and counts within about a second.
 *
 * @param kind what is limited: what a producer, a user (principal) or all producers of a topic
 *     send, what the members of a group fetch, or how many messages their handlers start
 *     (group-rate)
 * @param name name of the producer, user, topic or group. It need not exist yet
 * @param bytesPerSecond bytes of batches per second; absent: no limit
 * @param messages messages per period; absent: no limit
 * @param periodMillis the period of messages; absent: a second
 */
@Body("QuotaLimits")
@NotEmpty
public record SetQuota(
    QuotaKind kind,
    String name,
    @Bounds(min = 1, max = Quota.BYTES_MAX) @Nullable Long bytesPerSecond,
    @Bounds(min = 1, max = Quota.MESSAGES_MAX) @Nullable Long messages,
    @Bounds(min = 1, max = Quota.PERIOD_MILLIS_MAX) @Nullable Long periodMillis) {}
