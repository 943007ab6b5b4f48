package dev.evenkeel.api;

import io.vertx.core.json.JsonObject;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The whole state, in the first frame, and again for whoever reads too slowly.
 *
 * @param type {@code snapshot}
 * @param seq grows by 1 with each frame of the connection
 * @param server node and version
 * @param cluster id, dispatcher, nodes and logs
 * @param topics by name
 * @param groups by name
 * @param moves by a number that grows
 */
public record LiveSnapshot(
    @Words("snapshot") String type,
    long seq,
    Instant time,
    @LeftOut int intervalMs,
    @LeftOut @Nullable JsonObject server,
    @LeftOut @Nullable JsonObject cluster,
    @LeftOut @Nullable JsonObject topics,
    @LeftOut @Nullable JsonObject groups,
    @LeftOut @Nullable JsonObject moves) {}
