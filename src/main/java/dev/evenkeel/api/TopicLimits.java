package dev.evenkeel.api;

import dev.evenkeel.protocol.TopicConfig;
import io.vertx.core.json.JsonObject;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a topic that can change; null: as it is, or as it is in a new topic.
 *
 * @param retentionMillis how long a message is kept after every group consumed it
 * @param ageMillisMax drop older messages even if a group has not consumed them; -1: off
 * @param shardBytesMax drop the oldest messages of a larger shard even if a group has not consumed
 *     them; -1: off
 */
public record TopicLimits(
    @Bounds(min = 0, max = TopicLimits.MAX) @Nullable Long retentionMillis,
    @Bounds(min = -1, max = TopicLimits.MAX) @Nullable Long ageMillisMax,
    @Bounds(min = -1, max = TopicLimits.MAX) @Nullable Long shardBytesMax) {

  /** Sums of it and of a time do not overflow. */
  static final long MAX = Long.MAX_VALUE / 2;

  /** None is set. */
  public static final TopicLimits NONE = RecordJson.of(TopicLimits.class).read(new JsonObject());

  /** Only the time for which messages are kept is set. */
  public static TopicLimits retaining(long millis) {
    return RecordJson.of(TopicLimits.class).with(NONE, "retentionMillis", millis);
  }

  /** The settings of a topic. */
  public static TopicLimits of(TopicConfig config) {
    return new TopicLimits(config.retentionMillis(), config.ageMillisMax(), config.shardBytesMax());
  }

  /** All settings of a topic that has had {@code former} ones. */
  public TopicConfig over(TopicConfig former) {
    return new TopicConfig(
        Objects.requireNonNullElse(retentionMillis, former.retentionMillis()),
        Objects.requireNonNullElse(ageMillisMax, former.ageMillisMax()),
        Objects.requireNonNullElse(shardBytesMax, former.shardBytesMax()));
  }

  /** Whether none is set. */
  public boolean areNone() {
    return equals(NONE);
  }
}
