package dev.evenkeel.api;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message of a shard.
 *
 * @param headers text, or bytes as Base64
 * @param timestamp milliseconds since 1970
 * @param unreadable why the message cannot be read; then key, payload and timestamp are null
 * @param logGroup name of the log group that has the message; left out if it is not known
 * @param logIndex index of the log entry that has it; messages that were sent together may share
 *     one
 */
public record MessageView(
    int shard,
    long offset,
    @Nullable TextOrBytes key,
    @Nullable TextOrBytes payload,
    @Nullable Long timestamp,
    Map<String, TextOrBytes> headers,
    @LeftOut @Nullable String unreadable,
    @LeftOut @Nullable String logGroup,
    @LeftOut @Nullable Long logIndex) {}
