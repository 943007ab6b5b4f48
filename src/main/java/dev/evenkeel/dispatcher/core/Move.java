package dev.evenkeel.dispatcher.core;

/**
 * A shard that got another owner.
 *
 * @param timeMillis milliseconds since 1970
 * @param from null if nobody owned it before
 * @param cause null if unknown
 * @param releaseMillis from the drain to the release, or null if there was none or it is unknown
 */
public record Move(
    long timeMillis,
    String group,
    String topic,
    int shard,
    String from,
    String to,
    Cause cause,
    Long releaseMillis,
    long epoch) {}
