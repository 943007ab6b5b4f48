package dev.evenkeel.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a message is.
 *
 * @param offset null with acks none, and for a delayed message, which gets its offset when it is
 *     due
 * @param deliverAt of a delayed message: when it is due, milliseconds since 1970
 * @param delayedId of a delayed message: its id until it is delivered. Left out while a node runs
 *     version 0.1, and if the log does not remember it
 * @param logGroup name of the log group that has the message; left out if it is not known
 * @param logIndex index of the log entry that has it; messages that were sent together may share
 *     one
 * @param missing with acks all: nodes that are not known to have it, if there are any
 */
public record Position(
    int shard,
    @Nullable Long offset,
    @LeftOut @Nullable Long deliverAt,
    @LeftOut @Nullable String delayedId,
    @LeftOut @Nullable String logGroup,
    @LeftOut @Nullable Long logIndex,
    @LeftOut List<String> missing) {}
