package dev.evenkeel.api;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A shard got another owner.
 *
 * @param time when the next owner got the shard
 * @param pauseMs time from the end of the old owner's last handler to the new owner's first fetch;
 *     of an owner that died, from its last heartbeat
 * @param releaseMs how long the release took
 * @param redelivered messages that the old owner had begun, by its last report, and that the new
 *     one gets again
 * @param capped the old owner did not let go before the cap of its hand-over, and lost the shard
 * @param epoch of the new lease
 */
public record MoveView(
    Instant time,
    String group,
    String topic,
    int shard,
    @Nullable String from,
    @Nullable String to,
    String reason,
    @Nullable Long pauseMs,
    @Nullable Long releaseMs,
    @Nullable Long redelivered,
    boolean capped,
    @Nullable Long epoch) {}
