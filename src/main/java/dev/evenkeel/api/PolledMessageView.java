package dev.evenkeel.api;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message in the hands of a session.
 *
 * @param epoch grows with each owner of the shard
 * @param headers text, or bytes as Base64
 * @param attempt 1 for the first
 * @param timestamp milliseconds since 1970
 * @param logGroup name of the log group that has the message; left out if it is not known
 * @param logIndex index of the log entry that has it; messages that were sent together may share
 *     one
 */
public record PolledMessageView(
    String topic,
    int shard,
    long offset,
    long epoch,
    @Nullable TextOrBytes key,
    Map<String, TextOrBytes> headers,
    @Nullable TextOrBytes payload,
    int attempt,
    @Nullable Long timestamp,
    @LeftOut @Nullable String logGroup,
    @LeftOut @Nullable Long logIndex) {}
