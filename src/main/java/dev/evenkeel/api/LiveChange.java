package dev.evenkeel.api;

import io.vertx.core.json.JsonObject;
import java.time.Instant;

/**
 * What has changed since the frame before.
 *
 * @param type {@code change}
 * @param seq grows by 1 with each frame of the connection
 * @param patch RFC 7396 merge patch on the state of the last snapshot and the changes since
 */
public record LiveChange(@Words("change") String type, long seq, Instant time, JsonObject patch) {}
