package dev.evenkeel.client;

import dev.evenkeel.api.TopicLimits;
import io.vertx.core.json.JsonObject;
import java.time.Duration;

/**
 * Settings of a topic that can change; see {@link Admin}. What is not set keeps its value, or has
 * its default in a new topic. Values are checked by the cluster: INVALID if one is out of bounds.
 */
public final class TopicSettings extends OptionValues<TopicSettings> {
  private static final Schema SCHEMA =
      new Schema(
          "topic setting",
          "%1$s is %2$d: at least %3$d is needed",
          "%1$s is %2$d: at most %4$d is allowed");

  private static final Option<Long> RETENTION = SCHEMA.number("retentionMillis", null, 0);
  private static final Option<Long> AGE_MAX = SCHEMA.number("ageMillisMax", null, -1);
  private static final Option<Long> SHARD_BYTES_MAX = SCHEMA.number("shardBytesMax", null, -1);

  /** Settings none of which is set. */
  public TopicSettings() {
    super(SCHEMA);
  }

  /**
   * Settings from JSON. A key that is left out or null is not set.
   *
   * @throws dev.evenkeel.protocol.RefusedException INVALID for an unknown key or a bad value
   */
  public TopicSettings(JsonObject json) {
    super(SCHEMA, json);
  }

  TopicLimits limits() {
    return new TopicLimits(getRetentionMillis(), getAgeMillisMax(), getShardBytesMax());
  }

  /** How long a message is kept after every group has consumed it; null: not set. */
  public Long getRetentionMillis() {
    return get(RETENTION);
  }

  /** How long a message is kept after every group has consumed it. By default a day. */
  public TopicSettings setRetentionMillis(Long retentionMillis) {
    return set(RETENTION, retentionMillis);
  }

  /** As {@link #setRetentionMillis}. */
  public TopicSettings setRetention(Duration retention) {
    return setRetentionMillis(retention.toMillis());
  }

  /** Age at which messages are dropped, consumed or not; -1: off; null: not set. */
  public Long getAgeMillisMax() {
    return get(AGE_MAX);
  }

  /** Messages older than this are dropped, consumed or not. By default -1, which means off. */
  public TopicSettings setAgeMillisMax(Long ageMillisMax) {
    return set(AGE_MAX, ageMillisMax);
  }

  /** Bytes above which the oldest messages of a shard are dropped; -1: off; null: not set. */
  public Long getShardBytesMax() {
    return get(SHARD_BYTES_MAX);
  }

  /**
   * The oldest messages of a shard larger than this are dropped, consumed or not. By default -1,
   * which means off.
   */
  public TopicSettings setShardBytesMax(Long shardBytesMax) {
    return set(SHARD_BYTES_MAX, shardBytesMax);
  }
}
